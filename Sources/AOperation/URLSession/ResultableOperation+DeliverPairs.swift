import Foundation

// A tuple with labels is another type to the compiler than one without; a receiver need not name them.

extension ResultableOperation {
    /// Lets `receiver` run after this operation, with its data and response: see ``deliver(to:)``.
    @discardableResult
    public final func deliver<Body, Response, Receiver: ReceiverOperation>(to receiver: Receiver) -> Receiver
    where Output == (data: Body, response: Response), Receiver.Input == (Body, Response) {
        deliverPair(to: receiver) { ($0.data, $0.response) }
    }

    /// Lets `receiver` run after this operation, with its file and response: see ``deliver(to:)``.
    @discardableResult
    public final func deliver<File, Response, Receiver: ReceiverOperation>(to receiver: Receiver) -> Receiver
    where Output == (url: File, response: Response), Receiver.Input == (File, Response) {
        deliverPair(to: receiver) { ($0.url, $0.response) }
    }

    private func deliverPair<Receiver: ReceiverOperation>(
        to receiver: Receiver, _ pair: @escaping (Output) -> Receiver.Input
    ) -> Receiver {
        DeliveryNet.connect([self], to: receiver, as: .value) { [self] receiver, fresh in
            receiver.receivedValue = fresh.of(self as ResultableOperation<Output>).result?.map(pair)
        }
        return receiver
    }
}
