import Foundation
import Testing

@testable import AOperation

/// Errors on their way to another process.
@Suite struct PortableErrorTests {
    struct Known: PortableError, Equatable {
        static let errorName = "PortableErrorTests.Known"
        var line: Int
    }

    struct Measured: PortableError, Equatable {
        static let errorName = "PortableErrorTests.Measured"
        var seconds: Double
    }

    struct Unknown: PortableError {
        var line = 1
    }

    struct Large: PortableError {
        var text = String(repeating: "x", count: 20_000)
    }

    struct Local: Error {}

    @Test func registeredError_arrivesAsItself() throws {
        PortableErrors.register(Known.self)
        let image = try #require(PortableErrors.image(of: Known(line: 7)))
        #expect(String(decoding: image, as: UTF8.self) == #"{"error":{"line":7},"name":"PortableErrorTests.Known"}"#)
        #expect(PortableErrors.error(from: image) as? Known == Known(line: 7))
    }

    @Test func errorWithAnInfiniteNumber_arrivesAsItself() throws {
        PortableErrors.register(Measured.self)
        let image = try #require(PortableErrors.image(of: Measured(seconds: .infinity)))
        #expect(PortableErrors.error(from: image) as? Measured == Measured(seconds: .infinity))
    }

    @Test func whatIsNotKnown_orNotAsSent_isNotGuessed() throws {
        PortableErrors.register(Known.self)
        #expect(PortableErrors.error(from: try #require(PortableErrors.image(of: Unknown()))) == nil)
        for text in ["", "x", "{}", #"{"name":"PortableErrorTests.Known"}"#, #"{"name":"PortableErrorTests.Known","error":{"row":7}}"#] {
            #expect(PortableErrors.error(from: Data(text.utf8)) == nil, "\(text)")
        }
    }

    @Test func theLibrarysOwn_areKnownEverywhere_andAreTheSameThere() throws {
        let errors: [any PortableError & Hashable] = [
            TimeoutObserver.Error(seconds: 1.5), TimeoutObserver.Error(seconds: .infinity),
            AOperationError.QueueTimeout(operation: "a", limit: .milliseconds(5)),
            AOperationError.DeadlinePassed(operation: "a", limit: .seconds(1 << 40)),
            AOperationError.IgnoredDuplicate(of: "id", operation: "a"),
            NoFailedDependencies.Error(failedDependencies: ["a"], canceledDependencies: ["b"]),
            NoCancelledDependencies.Error(canceledDependencies: []),
            NegatedCondition<FalseCondition>.Error(negatedConditionKey: "k"), FalseCondition.Error(), BlockCondition.Error(),
            ReachabilityCondition.Error(url: URL(string: "http://host/"), connection: .cellular, reason: "no"),
            AOperationError.StreamVoided(producer: "a"),
        ]
        for error in errors {
            let image = try #require(PortableErrors.image(of: error))
            let arrived = try #require(PortableErrors.error(from: image) as? any PortableError & Hashable, "\(type(of: error))")
            #expect(AnyHashable(arrived) == AnyHashable(error))
        }
    }

    /// What another language's, or release's, process has to know them by.
    @Test func theLibrarysOwn_haveTheirTypesNames() {
        let names = PortableErrors.libraryErrors.map { $0.errorName }
        #expect(names.contains("AOperation.AOperationError.QueueTimeout") && names.contains("AOperation.TimeoutObserver.Error"))
        #expect(Set(names).count == names.count)
    }

    @Test func otherErrors_andLargeOnes_travelAsTheirText() {
        #expect(PortableErrors.image(of: Local()) == nil)
        #expect(PortableErrors.image(of: Large()) == nil)
        #expect(Unknown.errorName.hasSuffix("PortableErrorTests.Unknown"))
    }
}
