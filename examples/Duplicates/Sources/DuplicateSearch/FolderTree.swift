import AOperation
import Foundation

/// Lists folders, and all folders in them, however deep: which there are it learns while it runs.
///
/// It is a group that decides: each time that a folder has been listed it adds one child for each folder in it. On a cluster
/// any worker decides that, and what has been decided outlives the worker, the coordinator and the program that submitted it.
public final class FolderTree: GroupOperation, ClusterGroup, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var folders: [String]

        public init(folders: [String]) { self.folders = folders }
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init(parameters.folders.map { ListFolder(.init(path: $0)) })
    }

    public override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        // A folder that could not be listed is a failure of the group; the others go on.
        guard let list = operation as? ListFolder, case .success(let contents)? = list.result else { return }
        addOperations(contents.folders.map { ListFolder(.init(path: $0)) })
    }
}
