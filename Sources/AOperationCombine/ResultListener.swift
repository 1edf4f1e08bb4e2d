import AOperation

/// Is told of an operation's result: a subscription, without the types of its publisher and subscriber, which are not
/// to be carried into another thread's closure.
protocol ResultListener<Output>: AnyObject, Sendable {
    associatedtype Output
    /// Called once for each operation that it was given to, on the callback queue of the operation's queue.
    func operation(_ operation: ObjectIdentifier, finishedWith result: Result<Output, AOperationError>)
}

extension ResultableOperation {
    /// Tells `listener` of the result; holds it until then.
    func tell(_ listener: any ResultListener<Output>) {
        let id = ObjectIdentifier(self)
        didFinish { result in listener.operation(id, finishedWith: result) }
    }
}
