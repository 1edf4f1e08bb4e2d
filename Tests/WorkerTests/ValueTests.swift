import AOperation
import Executing
import Foundation
import Testing
import Wire

@testable import Worker

@Suite struct JSONScannerTests {
    @Test(arguments: [#"{"a": [1, 2.50, -0e3], "b": "x\u00e9\n"}"#, " true ", "[]", "{}", "\"\"", "[[[null]]]", "-1.5E+10"])
    func wellFormedText_isAccepted(_ text: String) throws {
        _ = try JSONScanner.check(Array(text.utf8))
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\"}", "01", "1.", "tru", "\"\\x\"", "\"\n\"", "[1] 2", "{\"a\":1,}", "+1", "\"abc", "\\", "[1 2]",
    ])
    func malformedText_isRefused(_ text: String) {
        #expect(throws: JSONScanner.Malformed.self) { try JSONScanner.check(Array(text.utf8)) }
    }

    @Test func deepText_isRefusedInsteadOfExhaustingTheStack() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSONScanner.Malformed.self) { try JSONScanner.check(Array(deep.utf8)) }
    }

    @Test func elements_keepTheirSpelling() throws {
        let list = Array(#"[ 1.10 , "a,]" , {"k":[1]}, 12345678901234567890 ]"#.utf8)
        let elements = ["1.10", #""a,]""#, #"{"k":[1]}"#, "12345678901234567890"].map { Data($0.utf8) }
        #expect(try JSONScanner.elements(list) == .list(elements))
        #expect(try JSONScanner.elements(list, max: 4) == .list(elements))
        #expect(try JSONScanner.elements(list, max: 3) == .tooMany(4))
        #expect(try JSONScanner.elements(Array("{}".utf8)) == nil)
    }

    @Test(arguments: [(#""a\u0041\n\"\\\/""#, "aA\n\"\\/"), (#""\ud83d\ude00""#, "😀"), (#""äö""#, "äö")])
    func strings_areUnescaped(_ literal: String, _ text: String) throws {
        #expect(try JSONScanner.string(Array(literal.utf8)) == text)
    }

    @Test func quoting_isUndoneByReading() throws {
        let text = "a\"\\\n\r\t\u{1}\u{1f}é😀$"
        #expect(try JSONScanner.string(JSONText.quoted(text.utf8)) == text)
    }
}

@Suite struct TemplateTests {
    let bindings = Bindings([
        .init(name: "outer", index: 4, element: Array(#""x""#.utf8)),
        .init(name: "file", index: 7, element: Array(#"{"path": "/a b", "size": 1.50, "tags": ["t"], "ok": true}"#.utf8)),
    ])

    func render(_ text: String) throws -> String {
        String(decoding: try Template.render(Data(text.utf8), bindings: bindings), as: UTF8.self)
    }

    @Test func names_areReplacedByTextOrJSON() throws {
        #expect(try render(#"{"a":"${outer}-${file.path}","n":[1.10,"${file.size}"]}"#) == #"{"a":"x-/a b","n":[1.10,"1.50"]}"#)
        #expect(try render(#"{"a":"${file.tags}"}"#) == #"{"a":"[\"t\"]"}"#)
        #expect(try render(#"{"a":"${file.ok}"}"#) == #"{"a":"true"}"#)
    }

    @Test func typedReference_keepsTheValuesType() throws {
        let text = #"{"a":"${=file.size}","b":"${=file.tags}","c":"${=index}","d":"${=outer}"}"#
        #expect(try render(text) == #"{"a":1.50,"b":["t"],"c":7,"d":"x"}"#)
    }

    @Test func index_isTheInnermostUnlessNamed() throws {
        #expect(try render(#"["${index}","${outer.index}","${file.index}"]"#) == #"["7","4","7"]"#)
    }

    @Test func doubledDollar_isOne_andALoneOneStays() throws {
        #expect(try render(#"["$$HOME ${outer} $x $"]"#) == #"["$HOME x $x $"]"#)
    }

    @Test func namesOfMembers_areNotReplaced() throws {
        #expect(try render(#"{"${outer}":"$$"}"#) == #"{"${outer}":"$"}"#)
    }

    @Test func unknownName_isNamed() {
        let error = #expect(throws: Template.UnknownName.self) { try render(#"["${nope.x}"]"#) }
        #expect(error?.errorDescription == "unknown name ${nope.x} (known: outer, file, index); write $$ for a literal $")
    }

    @Test func environment_hasScalarMembers() throws {
        let environment = Dictionary(try bindings.environment().map { ($0.name, $0.value) }) { $1 }
        #expect(environment["outer"] == "x")
        #expect(environment["file_path"] == "/a b")
        #expect(environment["file_size"] == "1.50")
        #expect(environment["file_tags"] == nil)
        #expect(environment["index"] == "7")
    }
}

@Suite struct ReceivedValueTests {
    func value(_ value: EncodedValue) -> ReceivedValue { .value(value) }

    @Test func list_foldsToJSON() {
        let list = ReceivedValue.list([
            value(.text("a\"b")), value(.json(Data("1.10".utf8))), value(.void), value(.bytes(Data([0xff]))), .list([]),
        ])
        #expect(String(decoding: list.folded.bytes, as: UTF8.self) == #"["a\"b",1.10,null,"/w==",[]]"#)
    }

    @Test func singleValue_isPassedAsItIs_andAsArrayWhenAskedFor() {
        guard case .single(let one) = ReceivedInput([value(.text("a"))], asArray: false, untouched: true),
            case .single(let array) = ReceivedInput([value(.text("a"))], asArray: true, untouched: true),
            case .list(let list) = ReceivedInput([value(.text("a"))], asArray: true, untouched: false)
        else { return #expect(Bool(false)) }
        #expect(one == .text("a"))
        #expect(array == .json(Data(#"["a"]"#.utf8)))
        #expect(list == [.text("a")])
    }

    @Test func firstFailureInDeclaredOrder_isReceived() {
        let failures = ["first", "second"].map { message in WireOperationFailure.with { $0.message = message } }
        guard
            case .failure(let error) = ReceivedInput(
                [value(.void)] + failures.map { .failure([$0]) }, asArray: false, untouched: true)
        else { return #expect(Bool(false)) }
        #expect(error.localizedDescription == "first")
    }

    @Test func forwardedFailure_keepsItsWireForm() {
        let failure = WireOperationFailure.with {
            $0.code = .exit
            $0.message = "exited with 3"
            $0.publisher = "shell"
            $0.exitCode = 3
            $0.host = "elsewhere"
        }
        #expect(WireOperationFailure(AOperationError(failure), host: "here") == failure)
    }

    struct Refusal: PortableError, Equatable {
        static let errorName = "WorkerTests.Refusal"
        var code: Int
    }

    @Test func registeredError_isItselfForAReceiver_andKeepsItsWireFormWhenForwarded() {
        PortableErrors.register(Refusal.self)
        var failure = WireOperationFailure(AOperationError(Refusal(code: 7)), host: "elsewhere")
        failure.origin = "a/b"
        let received = AOperationError(failure)
        #expect(received.publishedError as? Refusal == Refusal(code: 7))
        #expect(WireOperationFailure(received, host: "here") == failure)
        #expect(WireOperationFailure(AOperationError(received.publishedError), host: "here").host == "here")
    }
}

@Suite struct DecisionTests {
    @Test func array_isSplit() throws {
        let elements = try Decision.elements(of: [.value(.json(Data(#"["a",{"b":1}]"#.utf8)))], producer: "files")
        #expect(elements.map { String(decoding: $0, as: UTF8.self) } == [#""a""#, #"{"b":1}"#])
    }

    @Test func childrenOfAGroup_areElements() throws {
        let elements = try Decision.elements(of: [.list([.value(.text("a")), .value(.void)])], producer: "files")
        #expect(elements.map { String(decoding: $0, as: UTF8.self) } == [#""a""#, "null"])
    }

    @Test(arguments: [
        (EncodedValue.text("x"), "text; use `output: lines` or `output: json`"), (.json(Data("{}".utf8)), "an object"),
        (.void, "nothing"), (.json(Data("3".utf8)), "a number"),
    ])
    func anythingElse_isRefusedByName(_ value: EncodedValue, _ found: String) {
        let error = #expect(throws: OperationFault.self) { try Decision.elements(of: [.value(value)], producer: "files") }
        #expect(error?.message == "forEach needs a list, `files` gave \(found)")
        #expect(error?.code == .parameters)
    }
}

@Suite struct DurationTextTests {
    @Test(arguments: [("30s", 30_000), ("1m30s", 90_000), ("500ms", 500), ("1h", 3_600_000), ("0s", 0)])
    func durations_areRead(_ text: String, _ milliseconds: Int64) {
        #expect(DurationText.milliseconds(of: text) == milliseconds)
    }

    @Test(arguments: ["", "30", "s", "1x", "-1s", "1.5s", "99999999999999999999s"])
    func anythingElse_isNot(_ text: String) {
        #expect(DurationText.milliseconds(of: text) == nil)
    }
}
