import AOperation
import Executing
import Foundation
import Testing
import Wire

@testable import Worker

@Suite(.timeLimit(.minutes(1))) struct FencingTokenTests {
    final class TellToken: ResultableOperation<String>, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var key: String }
        let parameters: Parameters

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }

        override func execute() {
            finish(with: .success(fencingToken(for: parameters.key).map { "\($0)" } ?? "none"))
        }
    }

    @Test(arguments: [("db", "18446744073709551615"), ("other", "none")])
    func operation_isGivenTheTokensOfItsAttempt(key: String, token: String) async throws {
        let loop = try EventLoop()
        try loop.runOnOwnThread(name: "test")
        defer { loop.submit { loop.stop() } }
        let commands = try CommandRunner()
        let registry = try OperationRegistry([TellToken.self], withShell: false)
        let assignment = WireAssignment.with {
            $0.operation = TellToken.operationName
            $0.parameters = Data("{\"key\":\"\(key)\"}".utf8)
            $0.fences = [
                .with {
                    $0.key = "db"
                    $0.token = .max
                }
            ]
        }
        let context = UnitContext(
            submission: "s", path: "a", attemptNumber: 1, worker: "h/0", fences: Fences(assignment.fences), host: commands.host)
        let ending: UnitEnding = await withCheckedContinuation { continuation in
            loop.submit {
                UnitRunner(registry: registry, slots: 1, loop: loop, hostName: "h") { continuation.resume(returning: $1.ending) }
                    .start(UnitKey(unit: 1, attempt: 1), assignment, context: context, blobs: [:])
            }
        }
        guard case .success(let value) = ending else {
            Issue.record("\(ending)")
            return
        }
        #expect(String(decoding: value.inline, as: UTF8.self) == token)
    }
}
