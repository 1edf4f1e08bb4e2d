import Foundation
import Wire

/// What this machine needs for the least that a cluster does: times of a cluster mean something beside these only.
struct MachineFloor: Sendable {
    /// A message of 32 bytes to another socket over ZeroMQ and TCP, and back.
    var roundTripMicroseconds: Double
    /// 4 KiB at the end of a file, on the disk.
    var syncedWriteMicroseconds: Double
    /// Millions of bytes that are written one after another to a file and synced at its end.
    var sequentialMegabytesPerSecond: Double
    /// A process that ends at once, begun and waited for.
    var spawnMicroseconds: Double

    private static let roundTrips = 2_000
    private static let writes = 100
    private static let spawns = 100
    private static let sequentialBytes = 64 << 20
    private static let pieceBytes = 1 << 20

    /// Medians. Blocks for about a second.
    ///
    /// - Parameter directory: where the file is written.
    static func measure(in directory: String) throws -> MachineFloor {
        MachineFloor(
            roundTripMicroseconds: try roundTrip(), syncedWriteMicroseconds: try syncedWrite(in: directory),
            sequentialMegabytesPerSecond: try sequentialWrite(in: directory), spawnMicroseconds: try spawn())
    }

    private static func median(_ times: Int, _ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let samples = try (0..<times).map { _ in try clock.measure(body) / .microseconds(1) }
        return samples.sorted()[times / 2]
    }

    private static func roundTrip() throws -> Double {
        let context = try ZMQContext()
        defer { context.terminate() }
        let (router, dealer) = (try RouterSocket(context: context), try DealerSocket(context: context))
        defer {
            router.close()
            dealer.close()
        }
        try dealer.connect(try router.bind(try Endpoint("tcp://127.0.0.1:0")))
        var (there, back) = (Poller(), Poller())
        _ = there.add(router)
        _ = back.add(dealer)
        let text = Buffer([UInt8](repeating: 0x61, count: 32))
        func exchange() throws {
            // Until they are connected there is no way.
            while try dealer.send([text]) != .sent { _ = try back.wait(timeoutMilliseconds: 1) }
            let message = try next(&there) { try router.receive() }
            _ = try router.send(to: message.routingID, frames: message.frames)
            _ = try next(&back) { try dealer.receive() }
        }
        for _ in 0..<100 { try exchange() }
        return try median(roundTrips, exchange)
    }

    /// Waits for what `receive` gives.
    private static func next<Message>(_ poller: inout Poller, _ receive: () throws -> Message?) throws -> Message {
        while true {
            if let message = try receive() { return message }
            _ = try poller.wait(timeoutMilliseconds: 5_000)
        }
    }

    private static func syncedWrite(in directory: String) throws -> Double {
        let page = [UInt8](repeating: 0x61, count: 4096)
        return try withFile(in: directory) { descriptor, path in
            try median(writes) {
                try write(page, to: descriptor, path)
                try sync(descriptor, path)
            }
        }
    }

    private static func sequentialWrite(in directory: String) throws -> Double {
        let piece = [UInt8](repeating: 0x61, count: pieceBytes)
        let microseconds = try withFile(in: directory) { descriptor, path in
            try median(1) {
                for _ in 0..<sequentialBytes / pieceBytes { try write(piece, to: descriptor, path) }
                try sync(descriptor, path)
            }
        }
        return Double(sequentialBytes) / microseconds
    }

    private static func withFile<Result>(in directory: String, _ body: (Int32, String) throws -> Result) throws -> Result {
        let path = "\(directory)/floor"
        let descriptor = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemCallError(operation: "open", subject: path, errno: errno) }
        defer {
            close(descriptor)
            unlink(path)
        }
        return try body(descriptor, path)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws {
        guard Foundation.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemCallError(operation: "write", subject: path, errno: errno)
        }
    }

    private static func sync(_ descriptor: Int32, _ path: String) throws {
        guard fdatasync(descriptor) == 0 else { throw SystemCallError(operation: "fdatasync", subject: path, errno: errno) }
    }

    private static func spawn() throws -> Double {
        try median(spawns) {
            var process = pid_t()
            let name = strdup("/bin/true")
            defer { free(name) }
            let result = posix_spawn(&process, "/bin/true", nil, nil, [name, nil], nil)
            guard result == 0 else { throw SystemCallError(operation: "posix_spawn", subject: "/bin/true", errno: result) }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
    }
}
