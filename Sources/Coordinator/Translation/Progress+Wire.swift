import Scheduling
import Wire

extension Progress {
    /// nil: it says nothing that could be shown.
    init?(wire: WireProgress) {
        guard (0...1).contains(wire.fraction), wire.message.utf8.count <= Limits.progressTextBytes else { return nil }
        self.init(fraction: wire.fraction, message: wire.hasMessage ? wire.message : nil, at: wire.at)
    }

    var wire: WireProgress {
        var wire = WireProgress()
        wire.fraction = fraction
        if let message { wire.message = message }
        wire.at = at
        return wire
    }
}
