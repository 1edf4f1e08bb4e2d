import CLinux
import Foundation

/// Gives back to the system what the allocator keeps of memory that was freed in between what is used: after a large graph it is a third
/// of all.
struct FreedMemory {
    /// What the process had at least since something was given back last.
    private var leastBytes = Int.max
    private var isJustReturned = false

    /// Called now and then.
    ///
    /// - Parameter resident: bytes that the process has.
    /// - Returns: whether to give back what is free: the process has grown by much.
    mutating func isDue(resident: Int) -> Bool {
        leastBytes = isJustReturned ? resident : min(leastBytes, resident)
        isJustReturned = resident - leastBytes >= CoordinatorLimits.residentGrowthBytes
        return isJustReturned
    }

    /// On a thread of its own: it looks through all that is free.
    static func giveBack() { DispatchQueue.global(qos: .utility).async { clinux_return_free_memory() } }
}
