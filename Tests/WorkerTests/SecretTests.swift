import Foundation
import Testing
import Wire

@testable import Worker

/// Secrets of the worker's operator.
@Suite final class SecretTests {
    private let directory: String

    init() throws {
        var template = Array("/tmp/aop-secrets-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func keep(_ name: String, _ content: Data, mode: Int = 0o600) throws {
        let path = "\(directory)/\(name)"
        try content.write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func resolve(_ text: String) throws -> String {
        var redaction = Redaction()
        let resolved = try SecretStore(directory: directory).resolve(Data(text.utf8), noting: &redaction)
        return String(decoding: resolved, as: UTF8.self)
    }

    private func reason(_ name: String, in store: SecretStore? = nil) -> String {
        do {
            _ = try (store ?? SecretStore(directory: directory)).text(of: name)
            return "none"
        } catch {
            return error.localizedDescription
        }
    }

    @Test func references_areReplaced_andEverythingElseStaysAsItIs() throws {
        try keep("key", Data("s\"3\n".utf8))
        try keep("two", Data("a\nb\n\n".utf8))
        #expect(
            try resolve(#"{ "a": {"$aop.secret": "key"}, "n": 1.10, "list":[ {"$aop.secret":"two"}, {"b":{"$aop.secret":"key"}} ]}"#)
                == #"{ "a": "s\"3", "n": 1.10, "list":[ "a\nb\n", {"b":"s\"3"} ]}"#)
        #expect(try resolve(#"{"$aop.secret":"key"}"#) == #""s\"3""#)
    }

    @Test func inATemplate_aDollarInASecretIsNone() throws {
        try keep("dollar", Data("a${item}$b".utf8))
        let given = Data(#"{"a":{"$aop.secret":"dollar"}}"#.utf8)
        var redaction = Redaction()
        let resolved = try SecretStore(directory: directory).resolve(given, isTemplated: true, noting: &redaction)
        #expect(String(decoding: resolved, as: UTF8.self) == #"{"a":"a$${item}$$b"}"#)
        // With what stands before it that is one character.
        #expect(Template.literal("\u{600}${item}").unicodeScalars.elementsEqual("\u{600}$${item}".unicodeScalars))
    }

    @Test(arguments: [
        #"{"a":1}"#, #"{"a":"$aop.secret"}"#, #"{"$aop.secret":1}"#, #"{"$aop.secret":"key","b":1}"#, #"{"b":1,"$aop.secret":"key"}"#,
        #"not JSON"#,
    ])
    func whatIsNoReference_staysAsItIs(_ text: String) throws {
        #expect(try resolve(text) == text)
    }

    @Test func whatIsTold_hasNoneOfThem() throws {
        try keep("key", Data("sesame".utf8))
        try keep("longer", Data("open sesame".utf8))
        try keep("short", Data("abc".utf8))
        var redaction = Redaction()
        let given = #"[{"$aop.secret":"key"},{"$aop.secret":"longer"},{"$aop.secret":"short"},{"$aop.secret":"key"}]"#
        _ = try SecretStore(directory: directory).resolve(Data(given.utf8), noting: &redaction)
        #expect(redaction.apply(to: "open sesame, sesame, abc") == "***, ***, abc")
        #expect(redaction.occurs(in: "an abc") && !redaction.occurs(in: "an ab"))
        let failure = redaction.apply(
            to: .with {
                $0.message = "exited with 1: sesame"
                $0.stderr = "sesame"
                $0.error = Data("sesame".utf8)
            })
        #expect(failure.message == "exited with 1: ***" && failure.stderr == "***" && failure.error.isEmpty)
        #expect(Redaction().apply(to: .with { $0.error = Data([1]) }).error == Data([1]))
    }

    @Test func ofACommandThatFails_nothingIsToldThatIsAPartOfASecret() {
        let token = String(repeating: "0123456789abcdef", count: 64)
        var redaction = Redaction()
        for text in [token, "first line\n  second line  \n", "  padded  "] { redaction.add(text) }
        func message(_ stderr: String) -> (String, String) {
            let fault = CommandEnding.exited(1).fault(host: "h", stderr: Array(stderr.utf8), redaction)
            return (fault?.localizedDescription ?? "", fault?.stderr ?? "")
        }
        #expect(message("token \(token)\n") == ("exited with 1 on h: token ***", "token ***\n"))
        #expect(message("first line\n  second line  \n").0 == "exited with 1 on h: ***")
        #expect(message("it is   padded  \n").0.hasSuffix(": it is ***"))
        #expect(message("\n padded \n").0 == "exited with 1 on h: ***")
        // The end of what was written begins within the secret.
        #expect(message("\(token.suffix(700)) was refused\n") == ("exited with 1 on h: *** was refused", "*** was refused\n"))
    }

    /// Where it begins is not a matter of characters, and one secret may be a part of another one.
    @Test func endOfAText_thatBeginsWithinASecret_hasNothingOfIt() {
        var redaction = Redaction()
        for text in ["postgres://app:p4ssword@db.internal/prod", "p4ssword", "äußerst-geheim"] { redaction.add(text) }
        func told(_ bytes: some Sequence<UInt8>) -> String { redaction.apply(toTail: Array(bytes)) }
        #expect(told("gres://app:p4ssword@db.internal/prod failed: p4ssword".utf8) == "*** failed: ***")
        #expect(told("ord@db.internal/prod".utf8) == "***")
        #expect(told("äußerst-geheim!".utf8.dropFirst()) == "***!")
        #expect(told("äußerst-geheim!".utf8) == "***!")
        #expect(told("äuß".utf8) == "äuß")
        #expect(told([0x9F, 0x61] as [UInt8]) == "\u{FFFD}a" && told([UInt8]()).isEmpty)
    }

    @Test func veryLongSecrets_areLookedForWithAllTheirLines() {
        let line = { (number: Int) in "line \(number) of a certificate" }
        let long = (0..<2_000).map(line).joined(separator: "\n") + String(repeating: "0123456789", count: 1_000)
        var redaction = Redaction()
        redaction.add(long)
        #expect(redaction.apply(to: "it has \(line(1_234)), and \(long)") == "it has ***, and ***")
        #expect(redaction.apply(toTail: Array("\(long.suffix(3_000))\n\(line(7))".utf8)) == "***\n***")
    }

    @Test func lineBreakOfAnotherSystem_isNotOfTheSecret_andAMarkAtTheBeginningIs() throws {
        try keep("windows", Data("abcd\r\n".utf8))
        try keep("mark", Data([0xEF, 0xBB, 0xBF]) + Data("abcd".utf8))
        let store = SecretStore(directory: directory)
        #expect(try store.text(of: "windows") == "abcd")
        #expect(try Array(store.text(of: "mark").utf8) == [0xEF, 0xBB, 0xBF] + Array("abcd".utf8))
    }

    @Test func whatCannotBeUsed_isNamed_andNothingOfItsContentIsSaid() throws {
        try keep("open", Data("hidden".utf8), mode: 0o640)
        try keep("bytes", Data([0xFF, 0xFE]))
        try keep("large", Data(repeating: 0x61, count: SecretStore.bytesMax + 1))
        try FileManager.default.createDirectory(atPath: "\(directory)/folder", withIntermediateDirectories: false)
        #expect(reason("gone") == "the secret `gone` is unknown: there is no file of that name in the worker's directory of secrets")
        #expect(reason("open") == "the secret `open` can be read by others than its owner; give its file the mode 0600")
        #expect(reason("bytes") == "the secret `bytes` is no text in UTF-8")
        #expect(reason("large").contains("more than the limit of 65536"))
        #expect(reason("folder") == "the secret `folder` is no file")
        for name in ["../key", "a/b", ".hidden", "", String(repeating: "x", count: 129)] {
            #expect(reason(name).contains("has no possible name"), "\(name)")
        }
        #expect(reason("key", in: SecretStore()).contains("this worker has no secrets; start it with --secrets DIR"))
    }
}
