import Foundation
import Synchronization
import Wire

/// Runs recursive decoding of what may be nested deeply on a thread with stack enough.
enum DeepStack {
    /// Blocks the caller until `body` has returned; not for cooperative threads.
    /// - Throws: what `body` throws; `ThreadError` when the system has no thread to give.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let result = Mutex<Result<Value, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let box = Box(result)
        _ = try OSThread(name: "aop-decode") {
            let outcome = Result { try body() }
            box.result.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        guard let outcome = box.result.withLock({ $0 }) else { preconditionFailure("signalled before the result was set") }
        return try outcome.get()
    }

    private final class Box<Value: Sendable>: Sendable {
        let result: Mutex<Result<Value, any Error>?>
        init(_ result: consuming Mutex<Result<Value, any Error>?>) { self.result = result }
    }
}
