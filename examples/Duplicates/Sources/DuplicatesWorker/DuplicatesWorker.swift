import AOperation
import DuplicateSearch
import Worker

/// A worker that knows the operations of the search: `DuplicatesWorker --connect tcp://127.0.0.1:7600`.
@main struct DuplicatesWorker: WorkerCommand {
    static let abstract = "Lists folders and digests files for a coordinator."
    static let operations: [any ClusterOperation.Type] = [FolderTree.self, ListFolder.self, DigestFiles.self]
    static let errors: [any PortableError.Type] = [NotReadable.self]
}
