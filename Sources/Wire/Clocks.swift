import Glibc

/// The clock of leases and time-outs: rises steadily, goes on while the host sleeps, knows no date.
public enum BootClock {
    /// Milliseconds since the host was booted.
    public static func milliseconds() -> Int64 { Clock.milliseconds(of: CLOCK_BOOTTIME) }
}

/// The clock people read. It jumps; never measure with it.
public enum WallClock {
    /// Milliseconds since 1970.
    public static func milliseconds() -> Int64 { Clock.milliseconds(of: CLOCK_REALTIME) }
}

private enum Clock {
    static func milliseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else {
            preconditionFailure("clock_gettime(\(clock)) failed with errno \(errno): every Linux since 2.6.39 has this clock")
        }
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
