import CLinux
import Foundation

/// Gives back to the system what the allocator keeps of memory that was freed in between what is used: after a large graph it is a third
/// of all.
struct FreedMemory {
    /// What the process had at least since something was given back last.
    private var leastBytes = Int.max
    private var lastBytes = 0
    /// It has grown by much: what is free then is given back when it grows no more, as before that it is in use.
    private var isOwed = false
    private var isJustReturned = false

    /// Called now and then.
    ///
    /// - Parameter resident: bytes that the process has.
    /// - Returns: whether to give back what is free: the process has grown by much, and does no more.
    mutating func isDue(resident: Int) -> Bool {
        let growth = resident - lastBytes
        lastBytes = resident
        leastBytes = isJustReturned ? resident : min(leastBytes, resident)
        isOwed = isOwed || resident - leastBytes >= CoordinatorLimits.residentGrowthBytes
        isJustReturned = isOwed && growth < CoordinatorLimits.residentGrowthBytes / 16
        if isJustReturned { isOwed = false }
        return isJustReturned
    }

    /// On a thread of its own: it looks through all that is free.
    static func giveBack() { DispatchQueue.global(qos: .utility).async { clinux_return_free_memory() } }
}
