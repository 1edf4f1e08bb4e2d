import Foundation

extension GroupOperation {
    /// Lets `receiver` run after this group with the values of its children, in child order; with the group's first
    /// error if the group did not succeed, or with ``AOperationError/ChildOutputMismatch`` if a child's value is not
    /// a `Value`.
    @discardableResult
    public final func deliver<Value, Receiver: ReceiverOperation>(to receiver: Receiver) -> Receiver
    where Receiver.Input == [Value] {
        DeliveryNet.connect([self], to: receiver, as: .children) { [self] receiver, fresh in
            receiver.receivedValue = fresh.of(self as GroupOperation).values(of: Value.self)
        }
        return receiver
    }

    /// Lets `receiver` run after this group with the outcome of every child, whether the group succeeded or not.
    @discardableResult
    public final func deliver<Receiver: ReceiverOperation>(to receiver: Receiver) -> Receiver
    where Receiver.Input == GroupOutcomes {
        DeliveryNet.connect([self], to: receiver, as: .custom) { [self] receiver, fresh in
            receiver.receivedValue = .success(fresh.of(self as GroupOperation).outcomes)
        }
        return receiver
    }

    /// The children's values in child order, as far as all of them are of type `Value`.
    private func values<Value>(of type: Value.Type) -> Result<[Value], AOperationError> {
        if case .failure(let error)? = result { return .failure(error) }
        var values: [Value] = []
        for (index, outcome) in outcomes.enumerated() {
            guard let value = outcome.value else { continue }
            guard let typed = EncodedValue.read(value, as: Value.self) else {
                let mismatch = AOperationError.ChildOutputMismatch(
                    group: publisherName, index: index, expected: "\(Value.self)",
                    found: String(describing: Swift.type(of: value)))
                return .failure(AOperationError(mismatch, state: .execution, publisher: publisherName))
            }
            values.append(typed)
        }
        return .success(values)
    }
}
