import Foundation
import Wire

extension SystemCallError {
    /// Passes a non-negative result on, and throws what `errno` says otherwise.
    static func check(_ result: Int32, _ operation: @autoclosure () -> String, _ subject: String? = nil) throws -> Int32 {
        guard result >= 0 else {
            let code = Foundation.errno
            throw SystemCallError(operation: operation(), subject: subject, errno: code)
        }
        return result
    }
}
