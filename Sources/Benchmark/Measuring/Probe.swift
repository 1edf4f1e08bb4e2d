import CLinux
import Foundation

/// Takes time, processor time and peak memory from its making on.
struct Probe {
    private let memory: ResidentMemory?
    private let cpuStart: Double
    private let start: ContinuousClock.Instant

    init() {
        // What earlier measurements left to the allocator would hide what this one needs.
        clinux_return_free_memory()
        memory = ResidentMemory.watchPeak()
        cpuStart = Self.cpuSeconds
        start = .now
    }

    /// The measurement up to now.
    func sample(operations: Int) -> Sample {
        let seconds = secondsSince(start)
        let cpuSeconds = Self.cpuSeconds - cpuStart
        return Sample(operations: operations, seconds: seconds, cpuSeconds: cpuSeconds, peakBytes: memory?.growthAtPeak)
    }

    /// Processor time of all threads of the process.
    private static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Seconds of the monotonic clock; never zero.
func secondsSince(_ start: ContinuousClock.Instant) -> Double {
    let (seconds, attoseconds) = start.duration(to: .now).components
    return max(Double(seconds) + Double(attoseconds) / 1e18, 1e-9)  // rates divide by it
}
