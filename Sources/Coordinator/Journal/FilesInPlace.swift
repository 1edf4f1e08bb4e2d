import Foundation

/// The files of a data directory without which the next coordinator would not find what this one acknowledges: journal, its log, witness, and
/// the folder of large values. Who removes one, or puts another in its place, leaves this one writing where nobody looks.
///
/// All of them are open for as long as that goes on, so that no new file gets the number of one. SQLite replaces neither its file nor its log
/// while a connection is open, not to copy the log into the file either. A backup only reads; a restore, and what compacts the file, ask for the
/// directory's lock. The spool of partial results is not among them: it opens its file anew after a write that failed, and a start tells what is
/// missing in it.
///
/// Nothing is opened to look: SQLite's locks on a file end when its process closes any descriptor of it.
final class FilesInPlace: Sendable {
    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    private struct File {
        let path: String
        let identity: Identity
    }

    private let directory: DataDirectory
    private let files: [File]
    /// Of large values: nothing else has it open.
    private let folder: Int32

    /// - Parameter directory: locked, with a journal that is open.
    /// - Throws: `JournalError`: one of them is not there, or cannot be looked at.
    init(_ directory: DataDirectory) throws(JournalError) {
        var files: [File] = []
        for path in [directory.journalPath, directory.journalLogPath, JournalWitness.path(in: directory), directory.blobsPath] {
            files.append(File(path: path, identity: try Self.identity(of: path)))
        }
        let folder = open(directory.blobsPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            throw .database(path: directory.blobsPath, action: "open the folder", reason: DataDirectory.reason(errno))
        }
        self.directory = directory
        self.files = files
        self.folder = folder
    }

    deinit { close(folder) }

    /// - Throws: `DataDirectoryError`; `JournalError.replaced`: of one of the files; `.database`: it cannot be looked at.
    func check() throws {
        try directory.checkIsThere()
        for file in files {
            guard try Self.identity(of: file.path) == file.identity else { throw JournalError.replaced(path: file.path) }
        }
    }

    private static func identity(of path: String) throws(JournalError) -> Identity {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            guard code != ENOENT else { throw .replaced(path: path) }
            throw .database(path: path, action: "look at the file", reason: DataDirectory.reason(code))
        }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }
}
