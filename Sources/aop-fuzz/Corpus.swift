import Foundation
import Fuzzing

/// Inputs in files, one each, as libFuzzer keeps them.
enum Corpus {
    static func read(directory: String) throws -> [[UInt8]] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted().map { try read(file: "\(directory)/\($0)") }
    }

    static func read(file: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))) }

    static func write(_ inputs: [[UInt8]], to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for (number, input) in inputs.enumerated() { try Data(input).write(to: URL(fileURLWithPath: "\(directory)/seed-\(number)")) }
    }
}

/// The input that is being read, in a file that is there when the process has ended by it.
struct CurrentInput {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
    }

    func set(_ bytes: [UInt8]) {
        guard ftruncate(descriptor, off_t(bytes.count)) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            preconditionFailure("the input cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}

#if LIBFUZZER
    /// Called by libFuzzer, which has `main`. `AOP_FUZZ_TARGET` names the target.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
        libFuzzerTarget.run(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    }

    private let libFuzzerTarget: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["AOP_FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            preconditionFailure("AOP_FUZZ_TARGET is `\(name)`: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return target
    }()
#endif
