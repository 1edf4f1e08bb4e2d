import AOperation
import Foundation

/// Fails unless the status of the answer is one of success.
public final class ServicesErrorHandleOperation: ResultableOperation<Data>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public init() {}
    }

    public enum Error: String, PortableError {
        case serverResponseError
    }

    public let parameters: Parameters
    public var receivedValue: Result<(data: Data, response: URLResponse), AOperationError>?

    public init(_ parameters: Parameters = .init()) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        guard let value = receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(
            with: value.flatMap { data, response in
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                return (200...299).contains(status) ? .success(data) : .failure(AOperationError(Error.serverResponseError))
            })
    }
}

/// Decodes what it receives. Each type that it decodes is registered by itself.
public final class JSONDecoderOperation<Output: Codable & Sendable>: ResultableOperation<Output>, ReceiverOperation, ClusterOperation,
    @unchecked Sendable
{
    public struct Parameters: Codable, Sendable {
        public init() {}
    }

    public let parameters: Parameters
    public var receivedValue: Result<Data, AOperationError>?

    public init(_ parameters: Parameters = .init()) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        guard let value = receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(
            with: value.flatMap { data in
                do {
                    return .success(try JSONDecoder().decode(Output.self, from: data))
                } catch {
                    return .failure(AOperationError(error))
                }
            })
    }
}

/// Counts the bytes of an answer's body; its input does not name the two.
public final class BodyLength: ResultableOperation<Int>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public init() {}
    }

    public let parameters: Parameters
    public var receivedValue: Result<(Data, URLResponse), AOperationError>?

    public init(_ parameters: Parameters = .init()) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        guard let value = receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(with: value.map { data, _ in data.count })
    }
}

public struct User: Codable, Equatable, Sendable {
    public var name: String

    public init(name: String) { self.name = name }
}

/// What is to be run is made in the program.
public final class ServiceOperation<Output: Codable & Sendable>: WrapperOperation<Void, Output>, @unchecked Sendable {
    public init(url: URL) {
        super.init { _ in
            URLSessionTaskOperation.data(for: url)
                .deliver(to: ServicesErrorHandleOperation())
                .deliver(to: JSONDecoderOperation<Output>())
        }
    }
}

public enum ServiceTypes {
    public static let operations: [any ClusterOperation.Type] = [
        ServicesErrorHandleOperation.self, JSONDecoderOperation<User>.self, BodyLength.self,
    ]
    public static let errors: [any PortableError.Type] = [ServicesErrorHandleOperation.Error.self]
}
