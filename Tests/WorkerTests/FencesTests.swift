import Testing
import Wire

@testable import Worker

@Suite struct FencesTests {
    @Test(arguments: [
        ("db", "AOP_FENCE_DB"), ("dB-1.x", "AOP_FENCE_DB_1_X"), ("ü€", "AOP_FENCE___"), ("a b/c", "AOP_FENCE_A_B_C"),
        ("_9", "AOP_FENCE__9"),
    ])
    func names_areUpperCase_andUnderscoresForTheRest(key: String, name: String) {
        #expect(Fences.environmentName(of: key) == name)
    }

    @Test func commands_getEachToken_andAllAsJSON() throws {
        let fences = Fences([
            .with {
                $0.key = "net/1"; $0.token = 7
            },
            .with {
                $0.key = "db"; $0.token = .max
            },
        ])
        #expect(
            try fences.environment() == [
                "AOP_FENCE_DB": "18446744073709551615", "AOP_FENCE_NET_1": "7",
                "AOP_FENCES": #"{"db":"18446744073709551615","net/1":"7"}"#,
            ])
    }

    @Test func withoutAKey_thereIsNothing() throws {
        #expect(try Fences([WireFence]()).environment().isEmpty)
    }
}
