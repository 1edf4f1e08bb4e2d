import Foundation
import Synchronization

extension AOperation {
    /// What the library says about the operations of this process.
    public struct Debugger {
        private static let printsState = Atomic<Bool>(false)
        private static let handler = Mutex<(@Sendable (String) -> Void)?>(nil)

        /// Whether every stage of every operation is printed to standard output; false by default.
        public static var printOperationsState: Bool {
            get { printsState.load(ordering: .relaxed) }
            set { printsState.store(newValue, ordering: .relaxed) }
        }

        /// Takes the library's error lines, e.g. that a body did not end within its grace. Without a handler they go
        /// to standard error.
        public static var errorHandler: (@Sendable (String) -> Void)? {
            get { handler.withLock { $0 } }
            set { handler.withLock { $0 = newValue } }
        }

        /// Prints a stage, if asked to. The text is only made when it is needed.
        static func note(_ line: @autoclosure () -> String) {
            guard printOperationsState else { return }
            print(line())
        }

        /// Reports what somebody should look at.
        static func error(_ line: String) {
            if let handler = errorHandler {
                handler(line)
            } else {
                FileHandle.standardError.write(Data("AOperation: \(line)\n".utf8))
            }
        }
    }
}
