import Testing
import Wire

@testable import Cluster

@Suite struct OperationTreeTests {
    private func view(
        _ unit: UInt32, parent: UInt32, position: UInt32, _ path: String, kind: WireOperationView.Kind = .operation,
        state: WireOperationState = .succeeded, errors: [String] = []
    ) -> WireOperationView {
        .with {
            $0.unit = unit
            $0.parent = parent
            $0.position = position
            $0.path = path
            $0.kind = kind
            $0.state = state
            $0.errors = errors.map { message in .with { $0.message = message } }
        }
    }

    /// forEach's children are made late: their units come after those of later siblings.
    private var views: [WireOperationView] {
        [
            view(0, parent: 0, position: 0, "", kind: .ordered, state: .failed),
            view(1, parent: 0, position: 0, "each", kind: .forEach, state: .failed),
            view(2, parent: 0, position: 1, "last", state: .failed, errors: ["of last"]),
            view(3, parent: 1, position: 1, "each/1", state: .failed, errors: ["of 1"]),
            view(4, parent: 1, position: 0, "each/0"),
        ]
    }

    @Test func depthFirst_isInChildOrder() {
        #expect(OperationTree(views).depthFirst().map(\.view.path) == ["", "each", "each/0", "each/1", "last"])
    }

    @Test func failures_areInChildOrder_oneForEachFailedOperation() {
        let failures = OperationTree(views).failures
        #expect(failures.map(\.path) == ["each/1", "last"])
        #expect(failures.map { $0.errors.map(\.message) } == [["of 1"], ["of last"]])
    }

    @Test func selection_keepsNodesWithoutTheirParent() {
        let failed = views.filter { $0.kind == .operation && $0.state == .failed }
        #expect(OperationTree(failed, isPartial: true).depthFirst().map(\.view.path) == ["last", "each/1"])
    }

    @Test func deepTree_needsNoStack() {
        let deep = (0..<100_000).map { view(UInt32($0), parent: UInt32(max(0, $0 - 1)), position: 0, "\($0)", kind: .group) }
        #expect(OperationTree(deep).depthFirst().count == 100_000)
    }
}
