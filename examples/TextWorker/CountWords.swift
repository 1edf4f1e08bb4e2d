import AOperation

/// Counts the words of a text.
final class CountWords: ResultableOperation<Int>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable { var minimumLength: Int? }
    let parameters: Parameters
    var receivedValue: Result<String, AOperationError>?

    init(_ parameters: Parameters = .init()) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        guard let received = receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        let minimum = parameters.minimumLength ?? 1
        finish(with: received.map { text in text.split(whereSeparator: \.isWhitespace).count { $0.count >= minimum } })
    }
}
