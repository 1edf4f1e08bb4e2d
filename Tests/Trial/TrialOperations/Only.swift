import AOperation

/// An `Emit` of which only one is active at a time.
public final class Only: AsyncOperation<String>, ClusterOperation, UniqueOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var id: String
        public var joins: Bool
        public var emit: Emit.Parameters
    }

    public let parameters: Parameters
    public var uniqueId: String { parameters.id }
    public var onDuplicate: DuplicatePolicy { parameters.joins ? .join : .ignore }

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public convenience init(_ id: String, _ text: String, joins: Bool = false, log: String? = nil, until: String? = nil) {
        self.init(.init(id: id, joins: joins, emit: .init(text: text, log: log, until: until)))
    }

    public override func run() async throws -> String { try await Emit(parameters.emit).run() }
}
