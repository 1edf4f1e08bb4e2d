import Testing

@testable import Worker

/// Lines of operations on their way to the loop.
@Suite struct LogRelayTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func lines_areTakenTogether_andTheLoopIsToldOnce() {
        let relay = LogRelay(Redaction())
        #expect(relay.append("one"))
        #expect(!relay.append("two\nthree"))
        #expect(text(relay.take()) == "one\ntwo\nthree\n")
        #expect(relay.take().isEmpty)
        #expect(relay.append("four"))
    }

    @Test func whatComesTooFast_isLost_andSaysSo() {
        let relay = LogRelay(Redaction(), bytesMax: 20)
        for number in 0..<5 { _ = relay.append("line \(number)") }
        #expect(text(relay.take()) == "line 0\nline 1\n[3 lines of the log are missing here: they came too fast]\n")
        #expect(relay.append("later"))
        #expect(text(relay.take()) == "later\n")
    }

    @Test func secrets_areLeftOut() {
        var redaction = Redaction()
        redaction.add("hunter22")
        let relay = LogRelay(redaction)
        _ = relay.append("the password is hunter22")
        #expect(text(relay.take()) == "the password is ***\n")
    }
}
