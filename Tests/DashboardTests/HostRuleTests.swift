import Testing

@testable import Dashboard

@Suite struct HostRuleTests {
    let rule = HostRule(names: ["Proxy.Example"], hostName: "h1")

    @Test(arguments: [
        "localhost", "LOCALHOST:7601", "127.0.0.1:7601", "[::1]:7601", "[::1]", "10.0.0.7", "h1:80", "proxy.example", "proxy.example:443",
    ]) func whatItIsCalled_isAllowed(host: String) {
        #expect(rule.allows(host))
    }

    @Test(arguments: [
        "", ":80", "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "h1:", "h1:x", "[::1", "[::1]x", "::1:80", "1.2.3", "h2",
    ]) func otherNames_areNot(host: String) {
        #expect(!rule.allows(host))
    }
}
