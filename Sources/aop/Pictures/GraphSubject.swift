import ArgumentParser
import Cluster
import Coordinator
import Foundation
import GraphFile
import Pictures
import Wire

/// Of what a graph is drawn: a graph file, or a submission or a part of it.
enum GraphSubject: ExpressibleByArgument, Hashable, Sendable {
    case file(String)
    case submission(OperationReference)

    /// What is there as a file, or is called like one, is one.
    init?(argument: String) {
        let isCalledLikeOne = argument == "-" || Self.endings.contains((argument as NSString).pathExtension.lowercased())
        let isSubmission = argument == "last" || argument.hasPrefix("key=")
        var isDirectory: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: argument, isDirectory: &isDirectory) && !isDirectory.boolValue
        if !isSubmission, isCalledLikeOne || isThere {
            self = .file(argument)
        } else if let reference = OperationReference(argument: argument) {
            self = .submission(reference)
        } else {
            return nil
        }
    }

    private static let endings = ["yaml", "yml", "json"]
}

extension PictureGraph {
    /// A graph file that has no faults.
    init(_ loaded: LoadedGraph) throws {
        let dependencies = try GraphAdmission.dependencies(of: loaded.graph)
        let nodes = zip(loaded.nodes, loaded.graph.nodes).map { node, wire in
            let kind: Kind =
                switch node.kind {
                case .operation: .operation
                case .group: .group
                case .ordered: .ordered
                case .forEach: .forEach
                }
            return Node(
                path: node.path, kind: kind, type: node.type, parent: node.index == 0 ? nil : Int(wire.parent),
                dependencies: dependencies[node.index])
        }
        self.init(name: loaded.name, nodes)
    }
}

extension GraphSource {
    /// Reads and checks the file as `aop check` does: with a coordinator, if one can be reached, or else without.
    ///
    /// - Throws: `ToolError` with every fault of the file, exit code 6; other errors of a coordinator that is reached.
    func loadChecked(_ connection: ConnectionOptions) async throws -> LoadedGraph {
        let timeout = connection.checkTimeout
        let loaded = try await load(types: .coordinator(connection, timeout: timeout, waitForWorkers: false))
        let faults: [FileFault]
        do {
            let check = try await connection.withConnection(timeout: timeout) { try await $0.check(loaded.graph) }
            faults = check.errors.map { FileFault($0, in: loaded) }
        } catch let error as ClusterError where error.code == .unreachable {
            faults = GraphAdmission.faults(of: loaded.graph).map { fault in
                FileFault(loaded.error(atNode: fault.node, path: fault.path, message: fault.message))
            }
        }
        guard faults.isEmpty else { throw ToolError.refused(faults) }
        return loaded
    }
}
