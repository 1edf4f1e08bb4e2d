import AOperation
import Foundation
import SwiftProtobuf
import Wire

/// What an operation has produced, as it is sent: the same graph that a submitter would make of it.
package struct ProducedGraph: Sendable {
    package let graph: OperationGraph
    package let addition: WireAddition

    /// - Parameters:
    ///   - products: what the operation has handed over; their delivery nets are taken along.
    ///   - id: what they are called in the group; nil: nothing of their own.
    /// - Throws: `ProductRefused`, which names everything that cannot be sent.
    package init(_ products: [Foundation.Operation], id: String? = nil, from place: GraphBuilder.Place) throws {
        let plain = products.filter { !($0 is AOperation) }
        guard plain.isEmpty else {
            let names = plain.map { "the plain operation `\($0.name ?? "\(type(of: $0))")`" }.joined(separator: ", ")
            throw ProductRefused(
                reason: "\(names) lives in this process; make it a ClusterOperation")
        }
        if let id, id.isEmpty || id.utf8.count > Limits.productIdBytes {
            throw ProductRefused(
                reason: "its id has \(id.utf8.count) bytes; it must have from 1 to \(Limits.productIdBytes) (productIdBytes)")
        }
        let handedOver = products.compactMap { $0 as? AOperation }
        var known: Set<ObjectIdentifier> = []
        // What is in a queue is named as a fault.
        let all = AOperation.netsInNoQueue(of: handedOver, areProducts: true) + handedOver
        let net = all.filter { known.insert(ObjectIdentifier($0)).inserted }
        var graph = GraphBuilder.addition(of: net, from: place)
        for dependency in graph.outside {
            graph.fault(0, "waits for `\(dependency.name ?? "\(type(of: dependency))")`, which was not produced with it")
        }
        if case .worker = place {
            for (node, member) in graph.members.enumerated() where member.operation?.hasListeners == true {
                graph.fault(
                    node, "has observers, a delegate or closures, which live in the worker's process; let the operation itself do it")
            }
        }
        guard graph.faults.isEmpty else {
            throw ProductRefused(reason: graph.faults.prefix(Self.faultsMax).map(\.message).joined(separator: "; "))
        }
        for (node, member) in graph.members.enumerated() where member.operation?.hasEndedAsCancelled == true {
            graph.wire.nodes[node].beginsCancelled = true
        }
        let given = Set(handedOver.map(ObjectIdentifier.init))
        let tops = graph.members.indices.filter { node in
            graph.members[node].operation.map { given.contains(ObjectIdentifier($0)) } ?? false
        }
        let addition = WireAddition.with {
            $0.graph = graph.wireWithEnds
            $0.products = tops.map { UInt32($0) }
            if let id { $0.id = id }
        }
        let size = try addition.serializedData().count
        guard size <= Limits.additionBytes else {
            throw ProductRefused(
                reason: "\(size) bytes are more than \(Limits.additionBytes) (additionBytes); produce less at once, or submit a graph of"
                    + " its own")
        }
        self.graph = graph
        self.addition = addition
    }

    /// More of them are not told.
    private static let faultsMax = 8
}

/// What an operation has produced cannot become part of its group.
package struct ProductRefused: LocalizedError, Hashable, Sendable {
    package let reason: String

    package init(reason: String) { self.reason = reason }

    package var errorDescription: String? { "produced what cannot become part of its group: \(reason)" }
}

extension WireOperationFailure {
    /// Why an attempt fails that has produced this.
    package static func product(_ error: any Error, publisher: String, host: String) -> Self {
        .with {
            $0.message = error.localizedDescription
            $0.publisher = publisher
            $0.typeName = "ProductRefused"
            $0.host = host
        }
    }
}
