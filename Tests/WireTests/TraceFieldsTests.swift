import Testing
import Wire

/// The context of a trace, as others write it.
@Suite struct TraceFieldsTests {
    static let sound = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func parent_isReadAndWritten() throws {
        let parent = try #require(TraceParent(Self.sound))
        #expect(parent.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(parent.spanID == "b7ad6b7169203331")
        #expect(parent.isSampled)
        #expect(parent.description == Self.sound)
        #expect(TraceParent(Self.sound.replacing("-01", with: "-02"))?.isSampled == false)
    }

    @Test func parentOfALaterVersion_isReadAsFarAsItIsKnown() {
        #expect(TraceParent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-else")?.spanID == "b7ad6b7169203331")
    }

    @Test(arguments: [
        "", "00", "nonsense", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ])
    func otherTexts_areNoParent(_ text: String) {
        #expect(TraceParent(text) == nil)
        let (fields, problem) = TraceFields.admitted(of: ["traceparent": text, "tracestate": "a=1", "own": "x"])
        #expect(fields == ["own": "x"])
        #expect(problem?.contains("`traceparent` is `\(text.prefix(64))`") == true)
        #expect(problem?.contains("`tracestate` comes without a `traceparent`") == true)
    }

    @Test func soundFields_areTakenAsTheyAre() {
        let fields = ["traceparent": Self.sound, "tracestate": "vendor=1,other=2", "x-own": "9"]
        #expect(TraceFields.admitted(of: fields).fields == fields)
        #expect(TraceFields.admitted(of: fields).problem == nil)
        #expect(TraceFields.admitted(of: [:]).problem == nil)
    }

    @Test func whatIsTooMuch_isLeftOut_withTheLimit() {
        let many = Dictionary(uniqueKeysWithValues: (0...Limits.traceFields).map { ("f\($0)", "v") })
        #expect(TraceFields.admitted(of: many).fields.isEmpty)
        #expect(TraceFields.admitted(of: many).problem == "9 fields; the limit is 8 (traceFields)")
        let large = ["traceparent": Self.sound, "x": String(repeating: "y", count: Limits.traceBytes)]
        #expect(TraceFields.admitted(of: large).fields.isEmpty)
        #expect(TraceFields.admitted(of: large).problem?.hasSuffix("bytes; the limit is 2048 (traceBytes)") == true)
    }

    @Test func whatNoEnvironmentHolds_isLeftOut() {
        let (fields, problem) = TraceFields.admitted(of: ["traceparent": Self.sound, "a": "x\ny", "b\0": "z", "": "e"])
        #expect(fields == ["traceparent": Self.sound])
        #expect(problem?.contains("`a` is not of printable ASCII") == true)
    }

    @Test func environment_hasThemInCapitals() {
        let environment = ["TRACEPARENT": Self.sound, "TRACESTATE": "a=1", "PATH": "/bin"]
        let fields = TraceFields.fields(ofEnvironment: environment)
        #expect(fields == ["traceparent": Self.sound, "tracestate": "a=1"])
        #expect(TraceFields.environment(of: fields.merging(["own": "x"]) { $1 }) == environment.filter { $0.key != "PATH" })
        #expect(TraceFields.fields(ofEnvironment: ["TRACEPARENT": ""]).isEmpty)
    }
}
