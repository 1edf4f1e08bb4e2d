import AOperation
import Foundation
import Testing
import Wire

@testable import Worker

@Suite(.timeLimit(.minutes(2))) struct JSONOperationTests {
    let queue = AOperationQueue()

    /// What one of these makes of a value that it is given as a worker gives it.
    private func result(_ operation: any ClusterOperation, of received: EncodedValue) async throws -> ClusterOutcome {
        try operation.receive(.single(received))
        return await queue.end(of: operation)
    }

    // MARK: jsonDecode

    @Test(arguments: [
        EncodedValue.text(" {\"a\": [1.10, 12345678901234567890]}\n"), .bytes(Data(" {\"a\": [1.10, 12345678901234567890]}".utf8)),
        .json(Data(#""{\"a\": [1.10, 12345678901234567890]}""#.utf8)),
    ])
    func text_becomesTheJSONThatItIs(received: EncodedValue) async throws {
        guard case .success(let value) = try await result(JSONDecodeOperation(.init()), of: received) else {
            Issue.record("it failed")
            return
        }
        #expect(value == .json(Data(#"{"a": [1.10, 12345678901234567890]}"#.utf8)))
    }

    @Test func whatIsNoJSON_isNamedWithItsPlace() async throws {
        let fault = try await result(JSONDecodeOperation(.init()), of: .text("{\"a\" 1}")).fault
        #expect(fault?.message == "what was received is not JSON: ':' was expected (at byte 5)")
        #expect(fault?.code == .operation)
        let empty = try await result(JSONDecodeOperation(.init()), of: .text("")).fault
        #expect(empty?.message == "what was received is not JSON: it ends too early (at byte 0)")
    }

    @Test func bytesThatAreNotUTF8_areNoJSON() async throws {
        let fault = try await result(JSONDecodeOperation(.init()), of: .bytes(Data([0x22, 0xFF, 0x22]))).fault
        #expect(fault?.message == "what was received is not JSON: it is not UTF-8 (at byte 0)")
    }

    @Test(arguments: [
        (EncodedValue.void, "the operation that delivers has no value"),
        (.json(Data("{}".utf8)), "what is received is JSON already; receive it without `jsonDecode`"),
    ])
    func whatIsNoText_isRefused(received: EncodedValue, expected: String) {
        let fault = #expect(throws: OperationFault.self) { try JSONDecodeOperation(.init()).receive(.single(received)) }
        #expect(fault?.message == expected)
    }

    // MARK: jsonPath

    private static let store = """
        { "store": { "book": [ {"title": "A", "price": 8.950}, {"title": "B", "price": 12.99}, {"title": "C"} ],
          "first name": "x\\ny", "": null, "\\u00e9": [[1, 2], [3], []] }, "n": [0, 1, 2, 3, 4, 5, 6] }
        """

    @Test(arguments: [
        ("$.store.book[0].title", #""A""#), ("$.store.book[0].price", "8.950"), ("$.store['book'][-1]", #"{"title": "C"}"#),
        ("$.store['first name']", #""x\ny""#), ("$.store['']", "null"), ("$.store.é[0]", "[1, 2]"),
        ("$.store.book[*].title", #"["A","B","C"]"#), ("$.store.book[*].price", "[8.950,12.99]"), ("$.store.é.*.*", "[1,2,3]"),
        ("$.n[1:3]", "[1,2]"), ("$.n[5:]", "[5,6]"), ("$.n[1:5:2]", "[1,3]"), ("$.n[5:1:-2]", "[5,3]"), ("$.n[::-1]", "[6,5,4,3,2,1,0]"),
        ("$.n[-2:]", "[5,6]"), ("$.n[:-5]", "[0,1]"), ("$.n[-100:100:3]", "[0,3,6]"), ("$.n[100:-100:-3]", "[6,3,0]"),
        ("$.n[2,0,2]", "[2,0,2]"), ("$['n'][0,1:2,-1]", "[0,1,6]"), ("$.n[0]", "0"), ("$.n[0:1]", "[0]"),
    ])
    func path_selectsAsTheRFCSays(path: String, expected: String) async throws {
        for received in [EncodedValue.text(Self.store), .json(Data(Self.store.utf8)), .bytes(Data(Self.store.utf8))] {
            guard case .success(let value) = try await result(JSONPathOperation(.init(path: path)), of: received) else {
                Issue.record("\(path) failed")
                continue
            }
            #expect(value == .json(Data(expected.utf8)))
        }
    }

    @Test func wholeValue_isSelected_withoutTheSpaceAroundIt() async throws {
        #expect(try await result(JSONPathOperation(.init(path: "$")), of: .text(" [1] ")).text == "[1]")
    }

    /// Not by what they look like.
    @Test func names_areComparedByCodePoints() async throws {
        let received = EncodedValue.json(Data("{\"e\u{301}\": 1}".utf8))
        #expect(try await result(JSONPathOperation(.init(path: "$['\u{E9}']")), of: received).fault != nil)
        guard case .success(let value) = try await result(JSONPathOperation(.init(path: "$['e\u{301}']")), of: received) else {
            Issue.record("it failed")
            return
        }
        #expect(value == .json(Data("1".utf8)))
    }

    @Test(arguments: [
        (
            "$.store.books[0].title",
            "`$.store.books[0].title` selects nothing of the received value: nothing is at `$.store.books`; correct `path`"
        ),
        ("$.n.x", "`$.n.x` selects nothing of the received value; correct `path`"),
        ("$.n[7]", "`$.n[7]` selects nothing of the received value; correct `path`"),
        ("$.n[-8]", "`$.n[-8]` selects nothing of the received value; correct `path`"),
        ("$[0]", "`$[0]` selects nothing of the received value; correct `path`"),
        ("$.n[0].*", "`$.n[0].*` selects nothing of the received value; correct `path`"),
        ("$.n[::0]", "`$.n[::0]` selects nothing of the received value; correct `path`"),
        ("$.n[3:3]", "`$.n[3:3]` selects nothing of the received value; correct `path`"),
        ("$.n[", "`path` is \"$.n[\": a quoted name, a number, `*` or a slice was expected, and the path ends (at character 5)"),
    ])
    func pathThatSelectsNothing_isNamed_withWhatIsNotThere(path: String, expected: String) async throws {
        #expect(try await result(JSONPathOperation(.init(path: path)), of: .text(Self.store)).fault?.message == expected)
    }

    @Test func whatCannotBeSelectedFrom_isNamed() async throws {
        #expect(
            try await result(JSONPathOperation(.init(path: "$.a")), of: .text("[1")).fault?.message
                == "`$.a` selects nothing: what was received is not JSON: it ends too early (at byte 2)")
        let latin = Data([0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xE9, 0x22, 0x7D])
        #expect(
            try await result(JSONPathOperation(.init(path: "$.a")), of: .bytes(latin)).fault?.message
                == "`$.a` selects nothing: what was received is not JSON: it is not UTF-8 (at byte 0)")
        #expect(
            try await result(JSONPathOperation(.init(path: "$.a")), of: .void).fault?.message
                == "`$.a` selects nothing: the operation that delivers has no value")
    }

    @Test func severalProducers_areOneArray() async throws {
        let operation = JSONPathOperation(.init(path: "$[1].a"))
        let list = ReceivedValue.list([.value(.text("x")), .value(.json(Data(#"{"a": 7}"#.utf8)))])
        try operation.receive(ReceivedInput([list], asArray: false, untouched: true))
        #expect(await queue.end(of: operation).text == "7")
    }

    /// 1,000 elements, 1,001 times each.
    @Test func pathsThatSelectTooMuch_areRefused() async throws {
        let numbers = "[" + Array(repeating: "1", count: 1000).joined(separator: ",") + "]"
        let many = "$[" + Array(repeating: "*", count: 1001).joined(separator: ",") + "]"
        let fault = try await result(JSONPathOperation(.init(path: many)), of: .text(numbers)).fault
        #expect(fault?.code == .limit)
        #expect(fault?.message == "`\(many)` selects more than 1000000 values; select fewer, or use a command, e.g. jq")
        let large = "[\"" + String(repeating: "x", count: 1 << 20) + "\"]"
        let often = "$[" + Array(repeating: "0", count: 64).joined(separator: ",") + "]"
        let heavy = try await result(JSONPathOperation(.init(path: often)), of: .text(large)).fault
        #expect(heavy?.message == "`\(often)` selects more than 64 MiB; select less")
    }
}
