import Foundation
import Logging
import Scheduling
import Synchronization
import Wire

/// Records what a scheduler is told, with the readings of both clocks, and a digest of what it decides, for `JournalReplay`.
///
/// Each start of a coordinator has a file of its own below `flight/`; together they take at most the limit: the oldest go when a new one begins, and a recording
/// that reaches half of it ends there. Where the state at the start is larger than that, nothing is recorded. What cannot be written, or not as
/// fast as it comes, is logged and ends the recording: no work depends on it.
final class FlightRecorder {
    private enum Job: Sendable {
        case row([UInt8])
        case end(Recording.Ending)
    }

    private let jobs = WorkQueue<Job>()
    private let thread: OSThread
    /// Of rows that wait to be written.
    private let bytesInFlight: BytesInFlight
    private let inFlightMax: Int
    private var hasEnded = false

    private final class BytesInFlight: Sendable {
        let count = Atomic(0)
    }

    /// Begins a recording: the rows of the state that is begun with, which is behind the journal and has not been started.
    ///
    /// - Parameters:
    ///   - sections: of a snapshot.
    ///   - bytesMax: of all recordings together.
    ///   - inFlightMax: bytes of rows that wait to be written; where there are more, the recording ends.
    /// - Throws: `DataDirectoryError`, `ThreadError`: the directory cannot be used.
    init(
        in directory: DataDirectory, epoch: UInt32, configuration: Scheduler.Configuration, sections: [[UInt8]], bytesMax: Int64,
        inFlightMax: Int = CoordinatorLimits.recordingInFlightBytes, logger: Logger
    ) throws {
        let folder = Recording.folder(in: directory.path)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw DataDirectoryError.notWritable(path: folder, reason: DataDirectory.reason(errno))
        }
        guard !DurableFiles.isFile(folder) else { throw DataDirectoryError.notWritable(path: folder, reason: "it is not a directory") }
        let head = Recording.encode(.configuration(configuration.recorded))
        let inFront = sections.reduce(head.count) { $0 + Recording.rowBytes(ofSection: $1.count) }
        let isTooLarge = inFront > bytesMax / 2
        let tooLarge = Recording.Ending.largeState(bytes: UInt64(inFront))
        // One that says only why nothing is recorded is no reason to remove those that hold something.
        let own = isTooLarge ? Int64(head.count + Recording.encode(.full(tooLarge)).count) : bytesMax / 2
        try Self.makeRoom(in: folder, leaving: bytesMax - own)
        let path = "\(folder)/\(epoch).flight"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DataDirectoryError.notWritable(path: path, reason: DataDirectory.reason(errno)) }
        var begun = FlightWriter(descriptor: descriptor, path: path, bytesMax: bytesMax, logger: logger)
        if isTooLarge {
            begun.endAtOnce(head, tooLarge)
        } else {
            begun.write(head)
            for section in sections { begun.write(Recording.encode(.section(section))) }
        }
        self.inFlightMax = inFlightMax
        bytesInFlight = BytesInFlight()
        do throws(ThreadError) {
            thread = try OSThread(name: "aop-flight") { [jobs, bytesInFlight, begun] in
                var writer = begun
                while case .jobs(let list) = jobs.take() {
                    for job in list {
                        switch job {
                        case .row(let row):
                            writer.write(row)
                            bytesInFlight.count.subtract(row.count, ordering: .relaxed)
                        case .end(let ending): writer.end(ending)
                        }
                    }
                }
                Foundation.close(descriptor)
            }
        } catch {
            Foundation.close(descriptor)
            throw error
        }
    }

    private func post(_ row: Recording.Row) {
        guard !hasEnded else { return }
        let bytes = Recording.encode(row)
        guard bytesInFlight.count.add(bytes.count, ordering: .relaxed).newValue <= inFlightMax else {
            hasEnded = true
            jobs.post(.end(.slowDisk))
            return
        }
        jobs.post(.row(bytes))
    }

    func start(at now: Instant, incarnation: Incarnation, _ outputs: Outputs, sequence: JournalSequence) {
        post(.start(now, incarnation: incarnation.rawValue, Recording.Decisions(outputs, sequence: sequence)))
    }

    func step(_ inputs: [Input], at now: Instant, _ outputs: Outputs, sequence: JournalSequence) {
        post(.step(now, inputs: InputCodec.encode(inputs), Recording.Decisions(outputs, sequence: sequence)))
    }

    /// Waits until all of it is written.
    func close() {
        jobs.close()
        thread.join()
    }

    /// Removes the oldest until the others have at most `bytesMax`.
    private static func makeRoom(in folder: String, leaving bytesMax: Int64) throws {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw DataDirectoryError.notWritable(path: folder, reason: "\(error)")
        }
        var files: [(path: String, epoch: UInt64, bytes: Int64)] = []
        for name in names where name.hasSuffix(".flight") {
            var status = stat()
            guard let epoch = UInt64(name.dropLast(".flight".count)), stat("\(folder)/\(name)", &status) == 0 else { continue }
            files.append(("\(folder)/\(name)", epoch, Int64(status.st_size)))
        }
        var bytes = files.reduce(0) { $0 + $1.bytes }
        for file in files.sorted(by: { $0.epoch < $1.epoch }) where bytes > bytesMax {
            guard unlink(file.path) == 0 else { throw DataDirectoryError.notWritable(path: file.path, reason: DataDirectory.reason(errno)) }
            bytes -= file.bytes
        }
    }
}

/// What the recorder's thread does.
private struct FlightWriter: Sendable {
    let descriptor: Int32
    let path: String
    /// Of this file: half of all.
    private let bytesMax: Int64
    private let logger: Logger
    private var bytes: Int64 = 0
    private var hasEnded = false

    init(descriptor: Int32, path: String, bytesMax: Int64, logger: Logger) {
        (self.descriptor, self.path, self.bytesMax, self.logger) = (descriptor, path, bytesMax / 2, logger)
    }

    mutating func write(_ row: [UInt8]) {
        guard !hasEnded else { return }
        guard bytes + Int64(row.count) <= bytesMax else {
            return end(.limit)
        }
        put(row)
    }

    mutating func end(_ ending: Recording.Ending) {
        guard !hasEnded else { return }
        logger.notice("the flight recording \(path) ends here, at \(bytes) bytes: \(ending.text)")
        put(Recording.encode(.full(ending)))
        hasEnded = true
    }

    /// Nothing is recorded; whoever looks is told why.
    mutating func endAtOnce(_ configuration: [UInt8], _ ending: Recording.Ending) {
        logger.warning("nothing is recorded: \(ending.text)")
        put(configuration)
        put(Recording.encode(.full(ending)))
        hasEnded = true
    }

    private mutating func put(_ row: [UInt8]) {
        var rest = row[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                logger.error("the flight recording \(path) cannot be written and ends here: \(DataDirectory.reason(errno))")
                hasEnded = true
                return
            }
            rest = rest.dropFirst(count)
            bytes += Int64(count)
        }
    }
}
