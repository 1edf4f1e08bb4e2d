import Foundation
import Wire

/// The processes of this host as /proc shows them at one moment.
struct ProcessTable {
    struct Entry: Hashable {
        let id: pid_t
        let parent: pid_t
        let group: pid_t
        let session: pid_t
        /// Dead, waiting for its parent to notice.
        let isZombie: Bool
    }

    private(set) var entries: [Entry] = []

    /// Reads /proc. Processes that end meanwhile are left out.
    /// - Throws: `SystemCallError` when it cannot be read now, or not all of it: this process has too many files open, or there is no memory.
    static func current() throws(SystemCallError) -> ProcessTable {
        var table = ProcessTable()
        guard let directory = opendir("/proc") else { throw SystemCallError(operation: "opendir", subject: "/proc", errno: errno) }
        defer { closedir(directory) }
        while let item = readdir(directory) {
            let name = withUnsafePointer(to: &item.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { pid_t(String(cString: $0)) }
            }
            if let id = name, let entry = try Entry(reading: id) { table.entries.append(entry) }
        }
        return table
    }

    init() {}

    init(entries: [Entry]) { self.entries = entries }

    /// All descendants of `ancestor`, zombies included, parents before children.
    func descendants(of ancestor: pid_t) -> [Entry] {
        let children = Dictionary(grouping: entries, by: \.parent)
        var found: [Entry] = []
        var pending = children[ancestor] ?? []
        while let entry = pending.popLast() {
            found.append(entry)
            pending.append(contentsOf: children[entry.id] ?? [])
        }
        return found
    }

    func children(of parent: pid_t) -> [Entry] {
        entries.filter { $0.parent == parent }
    }

    /// Whether a process has all of `entries` ("NAME=value") in the environment it was started with. False when it has
    /// ended or belongs to somebody else.
    /// - Throws: `SystemCallError` as ``current()``.
    static func environment(of id: pid_t, contains entries: [String]) throws(SystemCallError) -> Bool {
        guard let bytes = try read("/proc/\(id)/environ", limit: environmentBytesMax) else { return false }
        let variables = bytes.split(separator: 0)
        return entries.allSatisfy { entry in variables.contains { $0.elementsEqual(entry.utf8) } }
    }

    /// More than the kernel lets a process be started with.
    private static let environmentBytesMax = 8 << 20

    /// The marks of all workers of which a process is there that may be looked into.
    /// - Throws: `SystemCallError` as ``current()``.
    static func marks() throws -> Set<WorkerMark> {
        Set(try current().entries.compactMap { try variable(WorkerMark.environmentName, of: $0.id).flatMap { WorkerMark($0) } })
    }

    /// A variable of the environment that a process was started with; nil when it has none of this name, has ended or belongs to
    /// somebody else.
    static func variable(_ name: String, of id: pid_t) throws(SystemCallError) -> String? {
        guard let bytes = try read("/proc/\(id)/environ", limit: environmentBytesMax) else { return nil }
        let prefix = Array("\(name)=".utf8)
        return bytes.split(separator: 0).first { $0.starts(with: prefix) }.map {
            String(decoding: $0.dropFirst(prefix.count), as: UTF8.self)
        }
    }

    /// Whether a process calls itself as guardians of workers do.
    static func isGuardian(_ id: pid_t) throws(SystemCallError) -> Bool { try name(of: id) == "guardian" }

    /// How the kernel calls a process: by up to 15 bytes of its program, unless it calls itself otherwise. Nil when it is not there.
    static func name(of id: pid_t) throws(SystemCallError) -> String? {
        try read("/proc/\(id)/comm", limit: 64).map { name in
            String(decoding: name.last == UInt8(ascii: "\n") ? name.dropLast() : name[...], as: UTF8.self)
        }
    }

    /// When a process was started, in clock ticks since the host was; nil when it is not there, or is hidden.
    static func startedTicks(of id: pid_t) -> UInt64? {
        (try? read("/proc/\(id)/stat", limit: 4096)).flatMap { startedTicks(stat: $0) }
    }

    /// The 22nd field; the second one is the name, in parentheses, which may hold anything.
    static func startedTicks(stat: [UInt8]) -> UInt64? {
        guard let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
        guard fields.count > 19 else { return nil }
        return UInt64(String(decoding: fields[19], as: UTF8.self))
    }

    /// - Returns: nil when there is no such process, or not to be looked at.
    fileprivate static func read(_ path: String, limit: Int) throws(SystemCallError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if [EMFILE, ENFILE, ENOMEM].contains(errno) { throw SystemCallError(operation: "open", subject: path, errno: errno) }
            return nil
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return bytes
    }
}

extension ProcessTable.Entry {
    /// nil when there is no such process, or when that cannot be seen now.
    init?(id: pid_t) {
        guard let entry = try? Self(reading: id) else { return nil }
        self = entry
    }

    /// Reads /proc/ID/stat; nil when there is no such process.
    /// - Throws: `SystemCallError` as ``ProcessTable/current()``.
    init?(reading id: pid_t) throws(SystemCallError) {
        guard let bytes = try ProcessTable.read("/proc/\(id)/stat", limit: 4096) else { return nil }
        self.init(id: id, stat: bytes)
    }

    /// `stat`: "id (name) state parent group session …"; the name may hold anything, parentheses included. The 20th field is how many
    /// threads there are: while others live, the first one that has ended is told as a zombie, and the children are not yet those of
    /// whoever gets them.
    init?(id: pid_t, stat: [UInt8]) {
        guard let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 18)
        guard fields.count > 17, let state = fields[0].first else { return nil }
        let numbers = fields[1...3].map { pid_t(String(decoding: $0, as: UTF8.self)) }
        guard let parent = numbers[0], let group = numbers[1], let session = numbers[2],
            let threads = Int(String(decoding: fields[17], as: UTF8.self))
        else { return nil }
        self.init(
            id: id, parent: parent, group: group, session: session,
            isZombie: threads <= 1 && (state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")))
    }
}
