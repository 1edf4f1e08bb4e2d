import Scheduling
import Wire

extension Instant {
    /// What the machine's clocks say.
    static func current() -> Instant { Instant(boot: BootClock.milliseconds(), wall: WallClock.milliseconds()) }
}
