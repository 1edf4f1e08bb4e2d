import Foundation

extension ResultableOperation {
    /// Lets `receiver` run after this operation, with its result: the value, or the first error, for every kind of
    /// failure. Returns the receiver, so that chains can be written; add any one of a chain's operations to a queue
    /// and all of it is added.
    ///
    /// An operation may deliver to several receivers. A receiver receives from the last that was connected: to receive from
    /// several, connect them at once, `[a, b].deliver(to:)` or `deliver(a, b, to:)`. It waits for the earlier ones, whose
    /// results are lost, and an error line says so.
    @discardableResult
    public final func deliver<Receiver: ReceiverOperation>(to receiver: Receiver) -> Receiver
    where Receiver.Input == Output {
        DeliveryNet.connect([self], to: receiver, as: .value) { [self] receiver, fresh in
            receiver.receivedValue = fresh.of(self as ResultableOperation<Output>).result
        }
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
        DeliveryNet.connect(producers, to: receiver, as: .list) { receiver, fresh in
            let results = producers.map { fresh.of($0 as ResultableOperation<Value>).result }
            if let error = DeliveryNet.firstError(of: results) {
                receiver.receivedValue = .failure(error)
            } else {
                receiver.receivedValue = .success(results.compactMap { result in try? result?.get() })
            }
        }
        return receiver
    }
}

/// Lets `receiver` run after all of these operations, two or more, with the tuple of their values; or, if any of them
/// failed, with the first error of the first failed one. All of them are awaited.
///
/// ```swift
/// let report = deliver(text, words, lines, to: Report())  // Report.Input is (String, Int, Int)
/// ```
@discardableResult
public func deliver<First, Second, each Other, Receiver: ReceiverOperation>(
    _ first: ResultableOperation<First>, _ second: ResultableOperation<Second>,
    _ others: repeat ResultableOperation<each Other>, to receiver: Receiver
) -> Receiver where Receiver.Input == (First, Second, repeat each Other) {
    var producers: [AOperation] = [first, second]
    repeat producers.append(each others)
    DeliveryNet.connect(producers, to: receiver, as: .list) { receiver, fresh in
        do throws(AOperationError) {
            let (one, two) = (try first.delivered(to: receiver, fresh), try second.delivered(to: receiver, fresh))
            receiver.receivedValue = .success((one, two, repeat try (each others).delivered(to: receiver, fresh)))
        } catch {
            receiver.receivedValue = .failure(error)
        }
    }
    return receiver
}

extension ResultableOperation {
    /// The value; throws the first error.
    fileprivate func delivered(to receiver: AOperation, _ fresh: FreshProducers) throws(AOperationError) -> Output {
        guard let result = fresh.of(self as ResultableOperation<Output>).result else { throw .receivedValueIsNil(in: receiver) }
        return try result.get()
    }
}
