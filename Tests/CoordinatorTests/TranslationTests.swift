import Foundation
import Scheduling
import Testing
import Wire

@testable import Coordinator

@Suite struct TranslationTests {
    private func error(_ change: (inout WireGraph) -> Void) -> String {
        var graph = WireGraph.group([.noop("a"), .noop("b")])
        change(&graph)
        do throws(TranslationError) {
            _ = try Graph(wire: graph)
            return "none"
        } catch { return "\(error)" }
    }

    @Test func failureCodes_haveTheSameNamesEverywhere() {
        for code in WireFailureCode.allCases {
            #expect(FailureCode(rawValue: UInt8(code.rawValue))?.name == code.word)
        }
    }

    @Test func wellFormedGraph_isRead() throws {
        let wire = WireGraph.with {
            $0.name = "g"
            $0.parameters = [Data("{}".utf8)]
            $0.nodes = [
                .with {
                    $0.kind = .group(
                        .with {
                            $0.ordered = true; $0.stopOnFailure = true; $0.maxConcurrent = 3
                        })
                },
                .with {
                    $0.id = "a"
                    $0.kind = .operation(
                        .with {
                            $0.type = "shell"; $0.version = 2; $0.templated = true
                        })
                    $0.retries = 4
                    $0.timeoutMilliseconds = 1000
                    $0.graceMilliseconds = 0
                    $0.delayMilliseconds = 5
                    $0.notBefore = 7
                    $0.deadlineMilliseconds = 8
                    $0.deadline = 9
                    $0.queueTimeoutMilliseconds = 10
                    $0.atMostOnce = true
                    $0.priority = -3
                    $0.requires = .with {
                        $0.labels = ["zone=a", "fast"]
                        $0.resources = [
                            .with {
                                $0.name = "gpus"; $0.amount = 2
                            },
                            .with {
                                $0.name = "cpus"; $0.amount = 0
                            },
                        ]
                    }
                    $0.unique = .with {
                        $0.id = "u"; $0.templated = true; $0.join = true; $0.output = "Data"
                    }
                    $0.backoff = .with {
                        $0.kind = .fibonacci; $0.initialMilliseconds = 11; $0.maxMilliseconds = 12; $0.jitterPermille = 13;
                        $0.factorPermille = 1_400
                    }
                    $0.retryOn = [.with { $0.exitCode = 75 }, .with { $0.signal = 9 }, .with { $0.error = "timeout" }]
                },
                .with {
                    $0.id = "each"
                    $0.kind = .forEach(
                        .with {
                            $0.as = "x"; $0.literal = true; $0.elements = [Data("1".utf8)]
                        })
                    $0.after = [1]
                    $0.forwardFailure = true
                },
                .with {
                    $0.parent = 2
                    $0.kind = .forEach(.with { $0.as = "y" })
                    $0.receives = [1]
                    $0.receivesArray = true
                },
            ]
        }
        var options = NodeOptions()
        options.delayMilliseconds = 5
        options.notBefore = 7
        options.deadlineMilliseconds = 8
        options.deadline = 9
        options.queueTimeoutMilliseconds = 10
        options.atMostOnce = true
        options.priority = -3
        options.requires = Requirements(
            labels: ["fast", "zone=a"], resources: [ResourceAmount(name: "cpus", amount: 0), ResourceAmount(name: "gpus", amount: 2)])
        options.unique = Uniqueness(id: "u", isTemplated: true, joins: true, output: "Data")
        options.backoff = Backoff(kind: .fibonacci, initialMilliseconds: 11, maxMilliseconds: 12, jitterPermille: 13, factorPermille: 1_400)
        options.retryOn = [.exitCode(75), .signal(9), .error("timeout")]
        #expect(
            try Graph(wire: wire)
                == Graph(
                    name: "g",
                    nodes: [
                        Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: true, stopsOnFailure: true, maxConcurrent: 3))),
                        Node(
                            id: "a", parent: 0,
                            kind: .operation(OperationNode(type: "shell", version: 2, parameters: 0, isTemplated: true)),
                            retries: 4, timeoutMilliseconds: 1000, graceMilliseconds: 0, options: options),
                        Node(
                            id: "each", parent: 0, kind: .forEach(ForEachNode(name: "x", elements: [Array("1".utf8)])), after: [1],
                            forwardsFailure: true),
                        Node(id: "", parent: 2, kind: .forEach(ForEachNode(name: "y")), receives: [1], receivesArray: true),
                    ], parameters: [Array("{}".utf8)]))
    }

    @Test func malformedGraphs_areRefusedNamingNodeAndValue() {
        #expect(error { $0.nodes[1].parent = 9 } == "node 1 of the graph has the parent 9; the graph has 3 nodes")
        #expect(error { $0.nodes[2].receives = [3] } == "node 2 of the graph waits for node 3; the graph has 3 nodes")
        #expect(error { $0.nodes[2].after = [.max] } == "node 2 of the graph waits for node 4294967295; the graph has 3 nodes")
        #expect(error { $0.nodes[1].operation.parameters = 1 } == "node 1 of the graph has the parameters 1; the graph has 1")
        #expect(error { $0.nodes[1].delayMilliseconds = .max }.contains("a delay of 18446744073709551615 ms; the limit is"))
        #expect(
            error { $0.nodes[1].queueTimeoutMilliseconds = .max }
                == "node 1 of the graph has a queue timeout of 18446744073709551615 ms; the limit is 4294967295 ms (49 days)")
        #expect(
            error { $0.nodes[1].requires.resources = [.with { $0.name = "a" }, .with { $0.name = "a" }] }
                == "node 1 of the graph requires the resource `a` twice")
        #expect(
            error { $0.nodes[1].requires.resources = [.with { $0.amount = .max }] }.hasPrefix(
                "a resource that node 1 of the graph requires with an amount of 18446744073709551615; the limit is"))
        #expect(error { $0.nodes[1].timeoutMilliseconds = .max }.contains("the limit is 4294967295 ms (49 days)"))
        #expect(
            error { $0.nodes[1].id = String(repeating: "x", count: 256) }
                == "the id of node 1 of the graph has 256 bytes; the limit is 255 (nameBytes)")
        #expect(error { $0.nodes[1].kind = nil }.hasPrefix("node 1 of the graph has no kind"))
    }

    @Test func keysAndLabels_haveAsManyBytesAsIsWritten() {
        let changes: [(inout WireGraph, String) -> Void] = [
            { graph, text in graph.nodes[1].exclusive = [.with { $0.key = text }] },
            { graph, text in graph.nodes[1].requires.labels = [text] },
        ]
        for change in changes {
            #expect(error { change(&$0, String(repeating: "x", count: 256)) } == "none")
            #expect(error { change(&$0, String(repeating: "x", count: 257)) }.hasSuffix("has 257 bytes; the limit is 256 (keyBytes)"))
        }
    }

    @Test func parametersThatAreTooLarge_areRefusedNamingTheFirstNodeThatUsesThem() {
        let large = Data(count: Limits.parameterBytes + 1)
        func refused(_ who: String, _ what: String) -> String {
            "\(who) has \(what) of 4194305 bytes; the limit is 4194304 (parameterBytes): hand large data over as a file or as another"
                + " operation's value"
        }
        #expect(error { $0.parameters[0] = large } == refused("node 1 (`a`) of the graph", "parameters"))
        #expect(
            error {
                $0.parameters.append(large)
                $0.nodes[2].operation.parameters = 1
            } == refused("node 2 (`b`) of the graph", "parameters"))
        #expect(
            error {
                $0.parameters.append(large)
                let probe = WireCondition.with { $0.probe = .with { $0.parameters = 1 } }
                $0.nodes[2].conditions = [.with { $0.composed = .with { $0.parts = [probe] } }]
            } == refused("node 2 (`b`) of the graph", "parameters"))
        #expect(error { $0.parameters.append(large) } == refused("the graph", "parameters"))
        #expect(
            error { $0.nodes[1].forEach = .with { $0.elements = [large] } } == refused("node 1 of the graph", "an element"))
    }

    @Test func attemptEndAgainstTheProtocol_becomesItsFailure() {
        func message(_ end: WireAttemptEnd) -> String {
            guard case .whole(.failure(let failures)) = ReportedEnd(wire: end, host: "h") else { return "none" }
            return failures[0].message
        }
        #expect(message(WireAttemptEnd()).contains("it has no outcome"))
        #expect(message(.with { $0.failure = WireFailures() }).contains("a failure without an error"))
        #expect(
            message(
                .with {
                    $0.success = .with {
                        $0.encoding = .bytes
                        $0.inline = Data(count: Limits.inlineValueBytes)
                    }
                }
            ).contains("a value of 65536 bytes within a message"))
        #expect(message(.with { $0.success = .with { $0.encoding = .UNRECOGNIZED(9) } }).contains("unknown encoding 9"))
        #expect(
            message(.with { $0.success = .with { $0.blob = .with { $0.digest = Data(count: 3) } } })
                .contains("a digest of 3 bytes"))
        #expect(
            message(
                .with {
                    $0.storedElements = .with {
                        $0.digest = Data(count: 32); $0.size = .max
                    }
                }
            )
            .contains("the limit is"))
    }

    @Test func failure_survivesTheWayThereAndBack() throws {
        let failure = Failure(
            code: .exit, isCondition: false, publisher: "p", message: "m", typeName: "t", exitCode: 3, signal: nil,
            stderr: "oops", host: "h", image: Array("{}".utf8), origin: "a/b")
        #expect(try Failure(wire: failure.wire) == failure)
    }

    @Test func ignoredDuplicate_saysOfWhat_toClients_andNobodyElseSaysIt() throws {
        let wire = Failure(code: .duplicate, message: "m", duplicateOf: "id/a").wire
        #expect(wire.duplicateOf == "id/a")
        #expect(try Failure(wire: wire).duplicateOf == "")
    }

    @Test func longTextsOfAFailure_areCutNotLost() throws {
        var wire = WireOperationFailure()
        wire.message = String(repeating: "ä", count: 100_000)
        wire.stderr = String(repeating: "a", count: 10_000) + "end"
        wire.error = Data(count: 10)
        let failure = try Failure(wire: wire)
        #expect(failure.message.utf8.count <= Failure.textBytesMax + 3)
        #expect(failure.stderr?.utf8.count == Limits.stderrTailBytes && failure.stderr?.hasSuffix("end") == true)
    }

    @Test func depthOfAThousand_travels() async throws {
        let bytes = try await onThread {
            var received = Received.value(Payload(encoding: .text, storage: .inline([65])))
            for _ in 0..<1000 { received = .list([received]) }
            let frames = try WireCoordinatorMessage.with {
                $0.dispatch.assignments = [.with { $0.inputs = [received.wire] }]
            }.frames()
            return try WireCoordinatorMessage(frames: frames).dispatch.assignments.count
        }
        #expect(bytes == 1)
    }
}
