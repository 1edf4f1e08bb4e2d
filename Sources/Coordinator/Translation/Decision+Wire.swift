import Foundation
import Scheduling
import Wire

extension DeciderNode {
    /// - Throws: `TranslationError` for an occasion that only a newer client knows.
    init(wire: WireDeciderNode, index: Int) throws(TranslationError) {
        guard let occasion = UInt8(exactly: wire.occasion.rawValue).flatMap(Occasion.init(rawValue:)) else {
            throw TranslationError(
                "node \(index) of the graph decides on the unknown occasion \(wire.occasion.rawValue); the client may be newer than this"
                    + " coordinator (\(ProductVersion.current))")
        }
        self.init(
            type: wire.type, version: Int(wire.version), parameters: Int(wire.parameters), occasion: occasion, isAskedAtBegin: wire.atBegin,
            isWrapper: wire.wrapper)
    }
}

extension GroupDecision {
    /// - Throws: `TranslationError` for what is above a limit, or refers to nothing.
    init(wire: WireDecision) throws(TranslationError) {
        guard wire.state.count < Limits.inlineValueBytes else {
            throw TranslationError(
                "a group's State of \(wire.state.count) bytes; it must have less than \(Limits.inlineValueBytes) (inlineValueBytes)")
        }
        let addition = wire.hasAddition ? try Addition(wire: wire.addition) : nil
        try TranslationError.checkCount(
            wire.forgiven.count + wire.forgivenNodes.count, "forgiven children", limit: Limits.graphNodes, named: "graphNodes")
        let count = addition?.graph.nodes.count ?? 0
        guard wire.forgivenNodes.allSatisfy({ $0 > 0 && $0 < count }) else {
            throw TranslationError("forgiven nodes that are not in the addition")
        }
        self.init(
            state: wire.hasState ? [UInt8](wire.state) : nil, addition: addition, forgiven: wire.forgiven.map(Int.init),
            forgivenNodes: wire.forgivenNodes.map(Int.init),
            failures: wire.failures.isEmpty ? [] : try [Failure](wire: .with { $0.errors = wire.failures }))
    }
}

extension DecisionQuestion {
    var wire: WireDecisionQuestion {
        .with {
            $0.number = UInt32(clamping: number)
            if let child { $0.child = child }
            if let childUnit {
                $0.childUnit = UInt32(clamping: childUnit)
                $0.childCancelled = isChildCancelled
            }
            $0.type = type
            $0.version = UInt32(clamping: version)
            $0.parameters = Data(parameters)
            if let state { $0.state = Data(state) }
        }
    }

    /// About how many bytes it takes within a message.
    var wireBytes: Int { 32 + (child?.utf8.count ?? 0) + type.utf8.count + parameters.count + (state?.count ?? 0) }
}
