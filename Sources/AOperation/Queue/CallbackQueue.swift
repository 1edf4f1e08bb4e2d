import Foundation

extension AOperation {
    private static let callbacks = Guarded(DispatchQueue(label: "AOperation.callbacks"))

    /// Where `didFinish` closures are called, unless the operation's queue names another one: a private serial queue
    /// by default, so that they come in the order of the operations' ends. Set it to `.main` in a program with a main
    /// loop that wants them there.
    public static var callbackQueue: DispatchQueue {
        get { callbacks.withLock { $0 } }
        set { callbacks.withLock { $0 = newValue } }
    }
}
