import Wire

/// What was kept of a command's stdout.
enum KeptOutput: Sendable {
    /// Less than ``Limits/outputMemoryBytes``.
    case memory([UInt8])
    case file(SpilledValue)
}

/// Keeps a command's stdout as it comes: in memory, and from ``Limits/outputMemoryBytes`` on in a file, which is written beside the loop.
///
/// An array of gigabytes would be moved when it grows, which takes longer than a lease. Lives on the loop's thread.
struct OutputKeeper {
    /// Called on any thread with how much was written, and with the error if it could not be.
    typealias Written = @Sendable (_ bytes: Int, (any Error)?) -> Void

    private let directory: String
    /// What is not handed to `file`: all, while there is none.
    private var piece: [UInt8] = []
    private var file: SpilledValue?
    private var unwrittenBytes = 0

    /// - Parameter directory: where the file is made, if there is to be one.
    init(in directory: String) { self.directory = directory }

    /// Its disk is slower than what comes: nothing more is to be read for now.
    var isBehind: Bool { unwrittenBytes >= Limits.outputUnwrittenBytes }

    mutating func append(_ bytes: [UInt8], written: @escaping Written) {
        piece += bytes
        if piece.count >= Limits.outputMemoryBytes { spill(written) }
    }

    /// `written` was called with these bytes.
    mutating func wrote(_ bytes: Int) { unwrittenBytes -= bytes }

    /// What has come is not wanted. Nothing comes any more.
    mutating func drop() {
        piece = []
        file = nil
    }

    /// All that has come. Nothing comes any more.
    mutating func finish(written: @escaping Written) -> KeptOutput {
        guard let file else { return .memory(piece) }
        if !piece.isEmpty { spill(written) }
        return .file(file)
    }

    private mutating func spill(_ written: @escaping Written) {
        let file = file ?? SpilledValue(in: directory)
        self.file = file
        let count = piece.count
        unwrittenBytes += count
        file.append(piece) { written(count, $0) }
        piece = []
        piece.reserveCapacity(count)
    }
}
