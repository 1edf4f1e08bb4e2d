import Foundation
import Testing

@testable import AOperation

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
        finish(with: received.map { text in text.split(separator: " ").count { $0.count >= parameters.minimumLength ?? 1 } })
    }
}

/// Receives an `Input`, and has it as its result.
final class Echo<Input>: ResultableOperation<Input>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}
    let parameters: Parameters
    var receivedValue: Result<Input, AOperationError>?
    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }
    override func execute() { finish(with: receivedValue ?? .failure(.receivedValueIsNil(in: self))) }
}

final class Named: VoidOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable { var key: String }
    static let operationName = "named"
    static let operationVersion = 3
    let parameters: Parameters
    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }
}

@Suite(.timeLimit(Load.patience))
struct ClusterOperationTests {
    struct Part: Codable, Equatable { var id: Int }

    /// Rebuilds, feeds and runs an operation as a worker does, by its erased type.
    private func run(_ type: any ClusterOperation.Type, _ input: ReceivedInput) async throws -> ClusterOutcome {
        let operation = try type.make(parameters: Data())
        try operation.receive(input)
        return await withCheckedContinuation { continuation in
            operation.whenEnded { continuation.resume(returning: $0) }
            operation.add(to: AOperationQueue())
        }
    }

    private func value(_ outcome: ClusterOutcome) throws -> EncodedValue {
        guard case .success(let value) = outcome else { throw Failed(text: "\(outcome)") }
        return value
    }

    /// Files of some programs begin with a byte order mark, which counts in lengths and checksums.
    @Test(arguments: ["\u{feff}id;x", "\u{feff}\u{feff}", "a\u{feff}", "\0", ""])
    func text_comesBackAsItWas(_ text: String) throws {
        let bytes = Array(text.utf8)
        #expect(try Array(String.decodedFromCluster(text.encodedForCluster()).utf8) == bytes)
        #expect(try Array(String.decodedFromCluster(.bytes(Data(bytes))).utf8) == bytes)
    }

    @Test func interface_namesTypesAndEncodings() throws {
        let interface = try CountWords.clusterInterface()
        #expect(interface.name == "CountWords")
        #expect(interface.version == 1)
        #expect(interface.receives)
        #expect(interface.input?.name == "Swift.String")
        #expect(interface.input?.encoding == .text)
        #expect(interface.output.encoding == .json)
        let named = try Named.clusterInterface()
        #expect(named.name == "named")
        #expect(named.version == 3)
        #expect(!named.receives)
        #expect(named.output.encoding == .void)
        let list = try Echo<[Part]>.clusterInterface()
        #expect(list.name == "Echo<Array<Part>>")
        #expect(list.input?.elementName?.hasSuffix("Part") == true)
        #expect(try Echo<EncodedValue>.clusterInterface().input?.takesAnything == true)
    }

    @Test func typeWithoutCodec_isRefused_byName() {
        struct Opaque {}
        let error = #expect(throws: ClusterCodingError.self) { try Echo<Opaque>.clusterInterface() }
        #expect(error?.code == .noCodec)
        #expect(error?.localizedDescription.contains("Opaque") == true)
    }

    @Test func parameters_goThereAndBack_andBadOnesAreNamed() throws {
        let bytes = try CountWords(.init(minimumLength: 4)).encodedParameters()
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"minimumLength":4}"#)
        #expect(try CountWords.make(parameters: bytes).parameters.minimumLength == 4)
        #expect(try CountWords.make(parameters: Data()).parameters.minimumLength == nil)
        let error = #expect(throws: ClusterCodingError.self) { try Named.make(parameters: Data("{}".utf8)) }
        #expect(error?.localizedDescription.contains(#"the key "key" is missing"#) == true)
        let wrong = #expect(throws: ClusterCodingError.self) { try Named.make(parameters: Data(#"{"key":5}"#.utf8)) }
        #expect(wrong?.localizedDescription.contains("expected String at key") == true)
    }

    final class Defaulted: VoidOperation, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable, Equatable {
            var minimumLength = 1
            var big: UInt64 = 18_446_744_073_709_551_615
            var words = ["a"]
        }
        static let defaultParameters: Parameters? = Parameters()
        let parameters: Parameters
        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }
    }

    @Test func defaultParameters_standInForKeysThatAreNotGiven() throws {
        #expect(try Defaulted.make(parameters: Data()).parameters == .init())
        let some = try Defaulted.make(parameters: Data(#"{"minimumLength":5}"#.utf8))
        #expect(some.parameters == .init(minimumLength: 5))
        #expect(throws: ClusterCodingError.self) { try Defaulted.make(parameters: Data("[]".utf8)) }
    }

    @Test func new_isAFreshOperationFromTheSameParameters() {
        let operation = Named(.init(key: "a"))
        let again = operation.new()
        #expect(again !== operation)
        #expect(again.parameters.key == "a")
    }

    @Test(arguments: [
        EncodedValue.text("one two three"), .json(Data(#""one two three""#.utf8)), .bytes(Data("one two three".utf8)),
    ])
    func text_isReceivedFromAnyEncoding(input: EncodedValue) async throws {
        let outcome = try await run(CountWords.self, .single(input))
        #expect(try value(outcome) == .json(Data("3".utf8)))
        #expect(try value(try await run(CountWords.self, .list([input]))) == .json(Data("3".utf8)))
    }

    @Test func codableValues_areReceivedFromTextAndBytesThatHoldJSON() async throws {
        let json = Data(#"{"id":7}"#.utf8)
        for input in [EncodedValue.json(json), .bytes(json), .text(#"{"id":7}"#)] {
            #expect(try value(try await run(Echo<Part>.self, .single(input))) == .json(json))
        }
    }

    /// JSON has none of them.
    @Test(arguments: [(Double.infinity, #""Infinity""#), (-Double.infinity, #""-Infinity""#), (Double.nan, #""NaN""#)])
    func numbersThatAreInfiniteOrNone_areTexts_andReceivedAsWhatTheyAre(_ number: Double, _ text: String) async throws {
        let json = EncodedValue.json(Data(text.utf8))
        #expect(try ValueCodec.encode(number) == json)
        #expect(try ValueCodec.decode(Double.self, from: json).description == number.description)
        #expect(try value(try await run(Echo<Double>.self, .single(json))) == json)
        #expect(try value(try await run(Echo<[Double]>.self, .list([json]))) == .json(Data("[\(text)]".utf8)))
        #expect(try ValueCodec.decode([Float?].self, from: .json(Data("[\(text),null,1]".utf8))).count == 3)
    }

    final class Measured: VoidOperation, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var limit: Double }
        static let defaultParameters: Parameters? = Parameters(limit: .infinity)
        let parameters: Parameters
        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }
    }

    @Test func parametersWithSuchNumbers_areRefusedByTheirPlace_butMayBeDefaults() throws {
        let error = #expect(throws: ClusterCodingError.self) { try Measured(.init(limit: .infinity)).encodedParameters() }
        #expect(error?.localizedDescription.contains("a value cannot be represented at limit") == true)
        #expect(try Measured.make(parameters: Data()).parameters.limit == .infinity)
    }

    @Test func lists_areDecodedElementByElement() async throws {
        let parts = [EncodedValue.json(Data(#"{"id":1}"#.utf8)), .text(#"{"id":2}"#)]
        let outcome = try await run(Echo<[Part]>.self, .list(parts))
        #expect(try value(outcome) == .json(Data(#"[{"id":1},{"id":2}]"#.utf8)))
        let texts = try await run(Echo<[String]>.self, .list([.text("a"), .json(Data(#""b""#.utf8))]))
        #expect(try value(texts) == .json(Data(#"["a","b"]"#.utf8)))
        let whole = try await run(Echo<[Int]>.self, .single(.json(Data("[1,2]".utf8))))
        #expect(try value(whole) == .json(Data("[1,2]".utf8)))
        let single = try await run(Echo<[Int]>.self, .list([.json(Data("1".utf8))]))
        #expect(try value(single) == .json(Data("[1]".utf8)))
        #expect(throws: ClusterCodingError.self) {
            try Echo<Int>(.init()).receive(.list([.json(Data("1".utf8)), .json(Data("2".utf8))]))
        }
    }

    @Test func stringAndData_travelAsTheyAre_andRawValuesUntouched() async throws {
        #expect(try value(try await run(Echo<String>.self, .single(.text("x")))) == .text("x"))
        let bytes = Data([0, 255, 1])
        #expect(try value(try await run(Echo<Data>.self, .single(.bytes(bytes)))) == .bytes(bytes))
        #expect(try value(try await run(Echo<[UInt8]>.self, .single(.bytes(bytes)))) == .bytes(bytes))
        #expect(try value(try await run(Echo<EncodedValue>.self, .single(.json(Data("1".utf8))))) == .json(Data("1".utf8)))
        #expect(try value(try await run(Echo<Void>.self, .single(.text("ignored")))) == .void)
    }

    @Test func aValueThatDoesNotFit_isAnErrorThatNamesTypeAndSize_notTheValue() {
        let operation = Echo<Int>(.init())
        let error = #expect(throws: ClusterCodingError.self) { try operation.receive(.single(.text("secret"))) }
        #expect(error?.code == .notDecodable)
        #expect(error?.localizedDescription.contains("Int") == true)
        #expect(error?.localizedDescription.contains("6 bytes") == true)
        #expect(error?.localizedDescription.contains("secret") == false)
        #expect(operation.receivedValue == nil)
    }

    @Test func operationThatReceivesNothing_refusesValues() {
        #expect(throws: ClusterCodingError.self) { try Named(.init(key: "a")).receive(.single(.void)) }
    }

    @Test func failureOfAProducer_isReceived() async throws {
        let failure = AOperationError(Failed(text: "lost"), state: .execution, publisher: "Producer")
        let outcome = try await run(CountWords.self, .failure(failure))
        guard case .failure(let errors) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(errors == [failure])
    }

    @Test func cancellation_isReported() async throws {
        let operation: any ClusterOperation = Named(.init(key: "a"))
        operation.cancel()
        let outcome = await withCheckedContinuation { continuation in
            operation.whenEnded { continuation.resume(returning: $0) }
        }
        guard case .cancelled(let error) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(error.publishedError is AOperationError.IsCancelled)
    }

    @Test func customCodec_isUsed() async throws {
        #expect(try value(try await run(Echo<Point>.self, .single(.bytes(Data([3, 4]))))) == .bytes(Data([3, 4])))
    }

    struct Point: ClusterValue {
        var x: UInt8
        var y: UInt8
        func encodedForCluster() -> EncodedValue { .bytes(Data([x, y])) }
        static func decodedFromCluster(_ value: EncodedValue) throws -> Point {
            guard value.bytes.count == 2 else { throw Failed(text: "a point has two bytes") }
            return Point(x: value.bytes[value.bytes.startIndex], y: value.bytes[value.bytes.startIndex + 1])
        }
    }
}
