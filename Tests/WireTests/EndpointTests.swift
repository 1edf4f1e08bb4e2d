import Testing
import Wire

@Suite struct EndpointTests {
    @Test(arguments: [
        ("tcp://127.0.0.1:7600", true), ("tcp://127.8.9.1:1", true), ("tcp://localhost:7600", true), ("tcp://[::1]:7600", true),
        ("tcp://[::ffff:127.0.0.1]:7600", true), ("tcp://0.0.0.0:7600", false), ("tcp://*:7600", false), ("tcp://10.0.0.1:7600", false),
        ("tcp://[::]:7600", false), ("tcp://[fe80::1]:7600", false), ("tcp://coordinator:7600", false),
        ("tcp://127.0.0.1.example.org:7600", false),
        ("tcp://localhost.example.org:7600", false), ("ipc:///run/aop/socket", true), ("ipc://@aop", true), ("inproc://aop", true),
    ]) func isRead_andKnowsWhetherItIsLocal(text: String, isLoopback: Bool) throws {
        let endpoint = try Endpoint(text)
        #expect(endpoint.isLoopback == isLoopback)
        #expect(endpoint.description == text)
        #expect(try Endpoint(endpoint.description) == endpoint)
    }

    @Test func anyPort_isZero() throws {
        #expect(try Endpoint("tcp://127.0.0.1:*").port == 0)
        #expect(try Endpoint("tcp://127.0.0.1:0").port == 0)
        #expect(try Endpoint("ipc:///tmp/x").path == "/tmp/x")
        #expect(Endpoint.standard.description == "tcp://127.0.0.1:7600")
    }

    @Test(arguments: [
        ("tcp://0.0.0.0:7611", "tcp://127.0.0.1:7611"), ("tcp://[::]:0", "tcp://127.0.0.1:0"), ("ipc:///run/x", "ipc:///run/x"),
    ]) func onLoopback_hasTheSamePort(text: String, local: String) throws {
        #expect(try Endpoint(text).onLoopback.description == local)
    }

    @Test(arguments: [
        ("127.0.0.1:7600", "the endpoint `127.0.0.1:7600` has no scheme; write tcp://127.0.0.1:7600"),
        ("", "the endpoint `` has no scheme; write tcp://HOST:PORT"),
        ("http://host:80", "the endpoint `http://host:80` has the unknown scheme `http`; use tcp://HOST:PORT or ipc:///PATH"),
        ("tcp://host", "the endpoint `tcp://host` has no port; write tcp://host:7600"),
        ("tcp://[::1]", "the endpoint `tcp://[::1]` has no port; write tcp://[::1]:7600"),
        ("tcp://::1:7600", "the endpoint `tcp://::1:7600` has an IPv6 address without brackets; write tcp://[ADDRESS]:PORT"),
        (
            "tcp://host:77000",
            "the endpoint `tcp://host:77000` has the port `77000`; use a number from 1 to 65535, or 0 to listen on any free port"
        ),
        ("tcp://host:+7", "the endpoint `tcp://host:+7` has the port `+7`; use a number from 1 to 65535, or 0 to listen on any free port"),
        ("tcp://:7600", "the endpoint `tcp://:7600` has no valid host; write tcp://HOST:PORT, e.g. tcp://127.0.0.1:7600"),
        ("ipc://relative", "the endpoint `ipc://relative` does not name an absolute path; write ipc:///run/user/1000/aop.sock"),
        ("inproc://", "the endpoint `inproc://` needs a name of 1 to 200 bytes; write inproc://NAME"),
    ]) func whatIsNoEndpoint_isRefusedWithTheRemedy(text: String, message: String) {
        #expect { try Endpoint(text) } throws: { "\($0)" == message }
    }

    @Test func aLongPath_isRefused() {
        let path = "/" + String(repeating: "x", count: 107)
        #expect { try Endpoint("ipc://\(path)") } throws: { "\($0)".contains("has a path of 108 bytes; Linux allows 107") }
    }
}
