/// Delivers what the program has set as the `receivedValue` of an operation that executes in another process.
///
/// Invariant behind `@unchecked Sendable`: the value is not changed.
final class GivenValue<Value>: ResultableOperation<Value>, @unchecked Sendable {
    private let value: Value

    init(_ value: Value) {
        self.value = value
        super.init()
    }

    override func execute() { finish(with: .success(value)) }
}

extension ReceiverOperation {
    fileprivate var isGivenSomething: Bool { receivedValue != nil }

    /// A failure goes nowhere by itself: it would be one of what is around the operation.
    fileprivate func connectGivenValue() -> Bool {
        guard case .success(let value)? = receivedValue, ValueCodec.hasCodec(for: Input.self) else { return false }
        GivenValue(value).deliver(to: self)
        return true
    }
}

extension AOperation {
    /// The program has set what it receives, and nothing delivers to it: that is in this process.
    final var hasGivenValue: Bool {
        guard let receiver = self as? any ReceiverOperation, core.withLock(\.net.before.isEmpty) else { return false }
        return receiver.isGivenSomething
    }

    /// Has what the program has set delivered, if the operation would execute elsewhere.
    ///
    /// - Returns: whether its net has grown by that.
    final func deliverGivenValue() -> Bool {
        guard isInitialized, hasGivenValue, self is any ClusterOperation, !staysHere, let receiver = self as? any ReceiverOperation
        else { return false }
        return receiver.connectGivenValue()
    }
}
