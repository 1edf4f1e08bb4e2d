import AOperation
import Foundation

/// What is in one folder.
public struct FolderContents: Codable, Sendable {
    public struct File: Codable, Sendable {
        public var path: String
        public var size: Int
    }

    public var files: [File] = []
    public var folders: [String] = []
    public var unreadable: [NotReadable] = []
}

/// Lists one folder, and not what is in its folders. Symbolic links and devices are left out.
public final class ListFolder: ResultableOperation<FolderContents>, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var path: String

        public init(path: String) { self.path = path }
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        finish(with: Result { try contents() }.mapError { AOperationError($0) })
    }

    private func contents() throws -> FolderContents {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: parameters.path).sorted()
        } catch {
            throw NotReadable(parameters.path, error)
        }
        var found = FolderContents()
        for name in names { look(at: parameters.path == "/" ? "/\(name)" : "\(parameters.path)/\(name)", &found) }
        return found
    }

    private func look(at path: String, _ found: inout FolderContents) {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            switch attributes[.type] as? FileAttributeType {
            case .typeDirectory?: found.folders.append(path)
            case .typeRegular?: found.files.append(.init(path: path, size: attributes[.size] as? Int ?? 0))
            default: break
            }
        } catch {
            found.unreadable.append(NotReadable(path, error))
        }
    }
}
