import AOperation
import Foundation

/// What a trial operation fails with.
public struct TrialError: PortableError, LocalizedError, Hashable {
    public var text: String

    public init(text: String) { self.text = text }

    public var errorDescription: String? { "trial: \(text)" }
}

/// Delivers a text; leaves traces in files, and does what a test tells it by files.
public final class Emit: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var text: String
        /// Where it writes a line "+text" when it begins and "-text" when it ends.
        public var log: String?
        /// The file whose coming it waits for.
        public var until: String?
        /// How many attempts fail; they are counted in the log.
        public var failures: Int?
        /// How long after its cancellation it goes on: until this file is there.
        public var lingers: String?
        /// How often the text is repeated.
        public var count: Int?
        /// How many lines it writes when it begins.
        public var says: Int?

        public init(
            text: String, log: String? = nil, until: String? = nil, failures: Int? = nil, lingers: String? = nil, count: Int? = nil,
            says: Int? = nil
        ) {
            self.says = says
            self.text = text
            self.log = log
            self.until = until
            self.failures = failures
            self.lingers = lingers
            self.count = count
        }
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public convenience init(_ text: String, log: String? = nil, until: String? = nil, failures: Int? = nil) {
        self.init(.init(text: text, log: log, until: until, failures: failures))
    }

    public override func run() async throws -> String {
        let attempt = write("+")
        defer { write("-") }
        for number in 0..<(parameters.says ?? 0) { writeLog("\(parameters.text) \(number + 1)") }
        do {
            try await file(parameters.until)
        } catch {
            let lingers = parameters.lingers
            await Task.detached { try? await Self.wait(for: lingers) }.value
            throw error
        }
        if attempt <= parameters.failures ?? 0 { throw TrialError(text: parameters.text) }
        return String(repeating: parameters.text, count: parameters.count ?? 1)
    }

    private func file(_ path: String?) async throws { try await Self.wait(for: path) }

    /// Looks for the file again and again: processes have no other way to tell each other something.
    static func wait(for path: String?) async throws {
        guard let path else { return }
        while !FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Returns how often this line is there now.
    @discardableResult
    private func write(_ sign: String) -> Int {
        guard let log = parameters.log else { return 1 }
        let line = "\(sign)\(parameters.text)"
        guard let file = fopen(log, "a") else { return 1 }
        fputs("\(line)\n", file)
        fclose(file)
        let lines = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return lines.split(separator: "\n").count { $0 == line }
    }
}

/// Puts the received texts together.
public final class Join: ResultableOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var separator: String

        public init(separator: String) { self.separator = separator }
    }

    public let parameters: Parameters
    public var receivedValue: Result<[String], AOperationError>?

    public init(_ parameters: Parameters = .init(separator: "+")) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(with: receivedValue.map { $0.joined(separator: parameters.separator) })
    }
}

/// Makes the received text loud.
public final class Shout: ResultableOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public init() {}
    }

    public let parameters: Parameters
    public var receivedValue: Result<String, AOperationError>?

    public init(_ parameters: Parameters = .init()) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(with: receivedValue.map { $0.uppercased() })
    }
}
