import Scheduling
import Testing

@Suite struct DeliveryTests {
    @Test func receiver_getsItsProducersValue() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b", receives: ["a"])]).graph())
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a", .success(text("hello")))
        #expect(cluster.find("b", on: nil)?.1.inputs == [.value(text("hello"))])
    }

    @Test func fanIn_waitsForAllProducers_andKeepsDeclaredOrder() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c"), .op("sum", receives: ["c", "a", "b"])]).graph())
        cluster.end("b", .success(text("B")))
        cluster.end("a", .success(text("A")))
        #expect(!cluster.holds("sum"))
        cluster.end("c", .success(text("C")))
        #expect(cluster.find("sum", on: nil)?.1.inputs == [.value(text("C")), .value(text("A")), .value(text("B"))])
    }

    @Test func failure_isDelivered_andReceiverRuns() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b", receives: ["a"])]).graph())
        cluster.end("a", failure("broken"))
        guard case .failure(let failures)? = cluster.find("b", on: nil)?.1.inputs.first else {
            Issue.record("no failure was delivered")
            return
        }
        #expect(failures.map(\.message) == ["broken"])
        #expect(failures.map(\.origin) == ["a"])
    }

    @Test func command_forwardsItsProducersFailure_withoutRunning() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b", receives: ["a"], forwards: true)]).graph())
        cluster.end("a", failure("broken"))
        #expect(cluster.dispatched == ["a"])
        let errors = cluster.operations(failedOnly: true).filter { $0.kind == .operation }.map { ($0.path, $0.errors.first?.origin) }
        #expect(errors.map(\.0) == ["a", "b"])
        #expect(errors.map(\.1) == ["a", "a"])
    }

    @Test func cancelledProducer_isDeliveredAsFailure() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a"), .op("b", receives: ["a"])]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        cluster.attach(1)
        guard case .failure(let failures)? = cluster.find("b", on: nil)?.1.inputs.first else {
            Issue.record("no failure was delivered")
            return
        }
        #expect(failures.first?.code == .cancelled)
    }

    @Test func group_deliversItsChildrensValuesInOrder() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 3)
        cluster.submit(Sketch.ordered("root", [.group("parts", [.op("x"), .op("y")]), .op("sum", receives: ["parts"])]).graph())
        cluster.end("parts/y", .success(text("Y")))
        cluster.end("parts/x", .success(text("X")))
        #expect(cluster.find("sum", on: nil)?.1.inputs == [.list([.value(text("X")), .value(text("Y"))])])
    }

    @Test func forEach_makesOneChildPerElement_andDeliversInElementOrder() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(
            Sketch.ordered(
                "root",
                [
                    .op("files"), .forEach("count", of: "files", body: .op("body")), .op("total", receives: ["count"]),
                ]
            ).graph())
        cluster.end("files", .success(text("[1,2,3]")))
        #expect(cluster.find("count", on: nil)?.1.kind == .decide)
        #expect(cluster.find("count", on: nil)?.1.operation == "files")
        cluster.end("count", .elements([Array("1".utf8), Array("2".utf8), Array("3".utf8)]))
        #expect(cluster.heldPaths == ["count/0", "count/1", "count/2"])
        #expect(cluster.find("count/1", on: nil)?.1.bindings == [Binding(name: "item", index: 1, element: Array("2".utf8))])
        for index in [2, 0, 1] { cluster.end("count/\(index)", .success(text("v\(index)"))) }
        #expect(cluster.find("total", on: nil)?.1.inputs == [.list([.value(text("v0")), .value(text("v1")), .value(text("v2"))])])
        cluster.end("total")
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.total == 5)
        #expect(cluster.operations().first { $0.path == "count" }?.attempts == 1)
    }

    @Test func forEach_overAnEmptyList_succeeds() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.forEach("none", of: nil, list: [], body: .op("body"))]).graph())
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func forEach_overALiteralList_needsNoDecision() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", [.forEach("each", of: nil, list: ["\"a\"", "\"b\""], body: .op("body"), max: 1)]).graph())
        #expect(cluster.heldPaths == ["each/0"])
        cluster.drain()
        #expect(cluster.dispatched == ["each/0", "each/1"])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func forEach_ofAFailedProducer_failsWithItsError() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("files"), .forEach("each", of: "files", body: .op("body"))]).graph())
        cluster.end("files", failure("no files"))
        #expect(cluster.state("each") == .failed)
        #expect(cluster.view()?.counts.total == 1)
    }

    @Test func nestedForEach_bindsBothElements_andSeesOuterNodes() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .op("base"),
                    .forEach(
                        "outer", of: nil, list: ["1", "2"],
                        body: .group(
                            "g",
                            [
                                .op("first"),
                                .forEach("inner", of: nil, list: ["7", "8"], body: .op("leaf", receives: ["base", "first"])),
                            ])),
                ]
            ).graph())
        cluster.end("base", .success(text("B")))
        cluster.end("outer/0/first", .success(text("F0")))
        cluster.end("outer/1/first", .success(text("F1")))
        let leaf = cluster.find("outer/1/inner/0", on: nil)?.1
        #expect(leaf?.inputs == [.value(text("B")), .value(text("F1"))])
        #expect(leaf?.bindings.map(\.element) == [Array("2".utf8), Array("7".utf8)])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }
}
