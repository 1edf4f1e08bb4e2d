import ArgumentParser
import CLinux
import Foundation
import Settings
import Wire

extension WorkerOptions {
    /// What this host has, by name: as it was said, and otherwise its processors and its memory.
    ///
    /// - Throws: a `ValidationError` with everything that is wrong with the values.
    static func resources(_ arguments: [String]) throws -> [String: Int64] {
        let problems = Setting.resources.problems(ofFlag: arguments)
        guard problems.isEmpty else { throw ValidationError(problems.text) }
        let named = try arguments.map { try ResourceAmount($0) }
        let standard = [
            "cpus": Int64(clinux_processor_count()), ResourceName.memory: Int64(clamping: ProcessInfo.processInfo.physicalMemory),
        ]
        return standard.merging(named.map { ($0.name, $0.amount) }) { $1 }
    }
}
