import Foundation

extension ResultableOperation {
    /// Lets `receiver` run after this operation, with its result: the value, or the first error, for every kind of
    /// failure. Returns the receiver, so that chains can be written; add any one of a chain's operations to a queue
    /// and all of it is added.
    ///
    /// An operation may deliver to several receivers.
    @discardableResult
    public final func deliver<Receiver: ReceiverOperation>(to receiver: Receiver) -> Receiver
    where Receiver.Input == Output {
        DeliveryNet.connect([self], to: receiver, as: .value) { [self] receiver in receiver.receivedValue = result }
        return receiver
    }
}

extension Sequence {
    /// Lets `receiver` run after all of these operations, with their values in this order; or, if any of them failed,
    /// with the first error of the first failed one. All of them are awaited.
    @discardableResult
    public func deliver<Value, Receiver: ReceiverOperation>(to receiver: Receiver) -> Receiver
    where Element: ResultableOperation<Value>, Receiver.Input == [Value] {
        let producers = Array(self)
        DeliveryNet.connect(producers, to: receiver, as: .list) { receiver in
            let results = producers.map(\.result)
            if let error = DeliveryNet.firstError(of: results) {
                receiver.receivedValue = .failure(error)
            } else {
                receiver.receivedValue = .success(results.compactMap { result in try? result?.get() })
            }
        }
        return receiver
    }
}

/// Lets `receiver` run after both operations, with the tuple of their values; or with the first error of the first
/// one that failed. Both are awaited.
@discardableResult
public func deliver<First, Second, Receiver: ReceiverOperation>(
    _ first: ResultableOperation<First>, _ second: ResultableOperation<Second>, to receiver: Receiver
) -> Receiver where Receiver.Input == (First, Second) {
    DeliveryNet.connect([first, second], to: receiver, as: .list) { receiver in
        switch (first.result, second.result) {
        case (.success(let one)?, .success(let two)?): receiver.receivedValue = .success((one, two))
        case (.failure(let error)?, _), (_, .failure(let error)?): receiver.receivedValue = .failure(error)
        case (nil, _), (_, nil): break
        }
    }
    return receiver
}
