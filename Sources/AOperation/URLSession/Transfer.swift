import Foundation

/// The loading of one answer, for one attempt of an operation.
protocol Transfer: AnyObject, Sendable {
    /// Begins. Called once.
    func start()

    /// Asks the transfer to end early; does nothing when it has ended. May be called before ``start()``.
    func cancel()
}

/// Who takes in what a transfer loads. Called on the transfer's queue only.
protocol TransferReceiver: AnyObject {
    /// An answer begins; what came before belonged to an earlier one. `total` is the length of its body, or -1.
    /// What is thrown ends the transfer.
    func received(_ response: URLResponse, expecting total: Int64) throws

    /// More of the body. What is thrown ends the transfer.
    func received(_ data: Data) throws

    /// More of the request's body was sent: `count` bytes so far; `total` is its length, or -1.
    func sent(_ count: Int64, of total: Int64)

    /// The transfer has ended; the last call.
    func ended(with error: (any Error)?, response: URLResponse?)
}
