import Testing
import Wire

@Suite struct ServiceManagerTests {
    @Test(
        arguments: [
            ([:], nil),
            (["NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "60000000"], 60_000),
            (["NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"], 60_000),
            (["NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"], nil),
            (["NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "0"], nil), (["NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "soon"], nil),
            (["WATCHDOG_USEC": "60000000"], nil), (["NOTIFY_SOCKET": "vsock:1", "WATCHDOG_USEC": "60000000"], nil),
        ] as [([String: String], Int64?)])
    func watchdog_isThatOfThisProcess(environment: [String: String], milliseconds: Int64?) {
        #expect(ServiceManager(environment: environment, process: 7).watchdogMilliseconds == milliseconds)
    }
}
