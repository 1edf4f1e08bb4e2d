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

    @Test func otherErrors_andLargeOnes_travelAsTheirText() {
        #expect(PortableErrors.image(of: Local()) == nil)
        #expect(PortableErrors.image(of: Large()) == nil)
        #expect(Unknown.errorName.hasSuffix("PortableErrorTests.Unknown"))
    }
}
