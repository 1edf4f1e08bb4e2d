import AOperation
import Executing
import Foundation
import Testing
import Wire

@testable import Worker

/// What workers say that they have, and what attempts are told that they have of it.
@Suite(.timeLimit(.minutes(1))) struct ResourceTests {
    @Test func flags_replaceWhatTheHostHas() throws {
        let standard = try WorkerOptions.resources([])
        #expect(standard.keys.sorted() == ["cpus", "memory"])
        #expect(standard.values.allSatisfy { $0 > 0 })
        let named = try WorkerOptions.resources(["gpus=2", "cpus=1", "scratch=10GB", "memory=3MiB", "licence=0"])
        #expect(named == ["gpus": 2, "cpus": 1, "scratch": 10_000_000_000, "memory": 3 << 20, "licence": 0])
    }

    @Test(arguments: [
        ("gpus", "--resource is `gpus`; write it as gpus=2 or memory=16GiB"),
        ("GPU=1", "--resource is `GPU=1`; `GPU` cannot name a resource: use lower-case letters, digits and `_`, a letter first"),
        ("label=1", "--resource is `label=1`; `label` cannot name a resource: use lower-case letters, digits and `_`, a letter first"),
        ("gpus=-1", "--resource is `gpus=-1`; the amount must be a whole number from 0, or a size such as 16GiB, up to 1 PiB"),
        ("gpus=", "--resource is `gpus=`; the amount must be a whole number from 0, or a size such as 16GiB, up to 1 PiB"),
        ("memory=2PiB", "--resource is `memory=2PiB`; the amount must be a whole number from 0, or a size such as 16GiB, up to 1 PiB"),
        (
            "memory=9000000TiB",
            "--resource is `memory=9000000TiB`; the amount must be a whole number from 0, or a size such as 16GiB, up to 1 PiB"
        ),
    ])
    func mistakes_areNamed(text: String, message: String) {
        #expect { _ = try WorkerOptions.resources([text]) } throws: { "\($0)".contains(message) }
    }

    @Test func allMistakes_areNamedAtOnce() {
        #expect { _ = try WorkerOptions.resources(["gpus", "cpus=1", "licence=-1", "cpus=2"]) } throws: {
            let lines = "\($0)".split(separator: "\n").map { String($0.prefix(29)) }
            return lines == ["--resource is `gpus`; write i", "--resource is `licence=-1`; t", "--resource names `cpus` twice"]
        }
    }

    @Test func commands_areToldNumbers_orAmounts() {
        let held = HeldResources([
            "gpus": AssignedResource(amount: 2, indices: [0, 3]), "memory": AssignedResource(amount: 4096, indices: []),
            "licence_2": AssignedResource(amount: 1, indices: [7]),
        ])
        #expect(
            held.environment() == [
                "AOP_RESOURCE_GPUS": "0,3", "CUDA_VISIBLE_DEVICES": "0,3", "AOP_RESOURCE_MEMORY": "4096", "AOP_RESOURCE_LICENCE_2": "7",
            ])
        #expect(held.environment(devices: "4,5,6,GPU-7")["CUDA_VISIBLE_DEVICES"] == "4,GPU-7")
        #expect(held.environment(devices: "4")["CUDA_VISIBLE_DEVICES"] == "4,3")
        #expect(HeldResources().environment().isEmpty)
    }

    final class TellResource: ResultableOperation<String>, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var name: String }
        let parameters: Parameters

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }

        override func execute() {
            finish(with: .success(assignedResource(parameters.name).map { "\($0.amount) \($0.indices)" } ?? "none"))
        }
    }

    @Test(arguments: [("gpus", "2 [1, 4]"), ("cpus", "none")])
    func operation_isToldWhatItHas(name: String, text: String) async throws {
        let loop = try EventLoop()
        try loop.runOnOwnThread(name: "test")
        defer { loop.submit { loop.stop() } }
        let commands = try CommandRunner()
        let registry = try OperationRegistry([TellResource.self], withShell: false)
        let assignment = WireAssignment.with {
            $0.operation = TellResource.operationName
            $0.parameters = Data("{\"name\":\"\(name)\"}".utf8)
            $0.resources = [
                .with {
                    $0.name = "gpus"
                    $0.amount = 2
                    $0.indices = [1, 4]
                }
            ]
        }
        let context = UnitContext(
            submission: "s", path: "a", attemptNumber: 1, worker: "h/0", resources: HeldResources(assignment.resources),
            host: commands.host)
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
        #expect(String(decoding: value.inline, as: UTF8.self) == text)
    }
}
