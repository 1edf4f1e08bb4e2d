import Foundation
import Wire

/// What the Swift runtime does with a process that crashes: where its backtracer is installed, that looks for where each thread was, which takes
/// seconds, and on a busy host longer than an executor may be silent. Until then nobody is told of the death.
enum Backtraces {
    /// The runtime's own variable.
    static let environmentName = "SWIFT_BACKTRACE"
    /// A process dies at once.
    static let off = "enable=no"
    /// Begins the name of the backtracer, as the kernel has it.
    private static let backtracer = "swift-backtrace"

    /// Whether the process is crashing, and its backtracer, a child of it, at work. False when that cannot be seen now.
    static func isCrashing(_ process: pid_t) -> Bool {
        guard let table = try? ProcessTable.current() else { return false }
        return table.children(of: process).contains { child in
            !child.isZombie && (try? ProcessTable.name(of: child.id))?.hasPrefix(backtracer) == true
        }
    }
}
