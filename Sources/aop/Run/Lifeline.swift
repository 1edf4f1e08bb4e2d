import Foundation
import Wire

/// The thread that notices when the process which started this one is gone: its end of our standard input closes.
enum Lifeline {
    /// Calls `whenCut` once, on a thread of its own, when standard input has ended.
    static func watch(_ whenCut: @escaping @Sendable () -> Void) {
        OSThread.detach(name: "aop-lifeline") {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { break }
            }
            whenCut()
        }
    }
}
