import Wire

/// How long to wait between attempts.
struct BackoffDraft: Hashable {
    enum Kind: String, CaseIterable {
        case constant, linear, exponential, fibonacci
    }
    var kind = Kind.exponential
    var initialMilliseconds: Int64 = 1_000
    /// nil: the standard one, or `initial` if that is longer.
    var maxMilliseconds: Int64?
    var jitterPermille = 1_000
    /// nil: the standard one of 2.
    var factorPermille: Int?

    private static let maxMillisecondsStandard: Int64 = 60_000

    var wire: WireBackoff {
        var wire = WireBackoff()
        switch kind {
        case .constant: wire.kind = .constant
        case .linear: wire.kind = .linear
        case .exponential: wire.kind = .exponential
        case .fibonacci: wire.kind = .fibonacci
        }
        wire.initialMilliseconds = UInt64(initialMilliseconds)
        wire.maxMilliseconds = UInt64(maxMilliseconds ?? max(Self.maxMillisecondsStandard, initialMilliseconds))
        wire.jitterPermille = UInt32(jitterPermille)
        if let factorPermille { wire.factorPermille = UInt32(factorPermille) }
        return wire
    }
}
