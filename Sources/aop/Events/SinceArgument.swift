import ArgumentParser
import GraphFile
import Wire

/// From when on: a time, or how long ago.
struct SinceArgument: Hashable, Sendable {
    /// Milliseconds since 1970.
    let time: Int64

    init(ago milliseconds: Int64) { time = WallClock.milliseconds() - milliseconds }

    /// As a flag has it: what is wrong is said, with the remedy.
    @Sendable static func argument(_ text: String) throws -> SinceArgument {
        switch GraphDeadline(text) {
        case .within(let milliseconds)?: return SinceArgument(ago: milliseconds)
        case .by(let milliseconds)?: return SinceArgument(time: milliseconds)
        case nil:
            throw ValidationError(
                "neither how long ago (`90s`, `1h30m`) nor a time (`2026-11-21T22:00:00Z`)")
        }
    }

    private init(time: Int64) { self.time = time }
}
