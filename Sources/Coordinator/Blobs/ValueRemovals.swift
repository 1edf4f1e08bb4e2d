import Scheduling
import Wire

/// Which large values go, and when: those that forgotten submissions named, soon; and now and then whatever else nothing names.
///
/// What goes is named by nothing in a state of the scheduler, and nobody was bringing it when that was looked at. It goes when that state is on
/// the disk, and stays when somebody has begun to bring it by then: who brings it later finds it missing, and brings all of it.
struct ValueRemovals {
    /// What was found, which counts when the journal is durable up to `after`.
    private struct Finding {
        var digests: Set<BlobDigest>
        let after: JournalSequence
    }

    /// How long a value stays that was forgotten, and that nobody reads meanwhile.
    private let graceMilliseconds: Int64
    /// By when they were forgotten, or read since: boot time.
    private var forgotten: [BlobDigest: Int64] = [:]
    /// Those of them that are to go.
    private var going: Finding?
    /// Those that are to stay when all others go that are old enough.
    private var staying: Finding?
    private var lookAt: Int64 = 0
    private var sweepAt: Int64

    /// - Parameter boot: boot time of the start.
    init(graceMilliseconds: Int64, startedAt boot: Int64) {
        self.graceMilliseconds = graceMilliseconds
        sweepAt = boot + CoordinatorLimits.sweepAfterStartMilliseconds
    }

    /// A submission that named them is forgotten.
    mutating func add(_ digests: some Sequence<BlobDigest>, at boot: Int64) {
        for digest in digests { forgotten[digest] = boot }
    }

    /// Somebody reads it.
    mutating func noteRead(_ digest: BlobDigest, at boot: Int64) {
        if forgotten[digest] != nil { forgotten[digest] = boot }
    }

    /// Somebody begins to bring it, and it may be named again.
    mutating func noteComing(_ digest: BlobDigest, at boot: Int64) {
        staying?.digests.insert(digest)
        if going?.digests.remove(digest) != nil { forgotten[digest] = boot }
    }

    /// Those for which the state is to be looked through now; empty: there is no need.
    mutating func due(at boot: Int64) -> Set<BlobDigest> {
        guard !forgotten.isEmpty, going == nil, boot >= lookAt else { return [] }
        lookAt = boot + CoordinatorLimits.valueLookMilliseconds
        return Set(forgotten.filter { boot - $0.value >= graceMilliseconds }.keys)
    }

    /// The state was looked through.
    ///
    /// - Parameters:
    ///   - due: what ``due(at:)`` gave.
    ///   - unnamed: those of them that nothing names in the state whose last fact is `sequence`.
    ///   - coming: what somebody brings.
    ///   - milliseconds: what it took, which is to be a small part of all time.
    mutating func looked(
        for due: Set<BlobDigest>, unnamed: Set<BlobDigest>, coming: Set<BlobDigest>, upTo sequence: JournalSequence,
        took milliseconds: Int64,
        at boot: Int64
    ) {
        lookAt = boot + max(CoordinatorLimits.valueLookMilliseconds, 100 * milliseconds)
        for digest in due { forgotten[digest] = unnamed.contains(digest) && coming.contains(digest) ? boot : nil }
        let digests = unnamed.subtracting(coming)
        if !digests.isEmpty { going = Finding(digests: digests, after: sequence) }
    }

    func isSweepDue(at boot: Int64) -> Bool { boot >= sweepAt && staying == nil }

    /// - Parameter kept: what is named in the state whose last fact is `sequence`, and what somebody brings.
    mutating func sweep(keeping kept: Set<BlobDigest>, upTo sequence: JournalSequence, at boot: Int64) {
        staying = Finding(digests: kept, after: sequence)
        sweepAt = boot + CoordinatorLimits.sweepPauseMilliseconds
    }

    /// Those that go now; nil: none do.
    mutating func takeGoing(upTo durable: JournalSequence) -> Set<BlobDigest>? {
        guard let found = going, found.after <= durable else { return nil }
        going = nil
        return found.digests.isEmpty ? nil : found.digests
    }

    /// Those that stay when all others go now; nil: that is not now.
    mutating func takeStaying(upTo durable: JournalSequence) -> Set<BlobDigest>? {
        guard let found = staying, found.after <= durable else { return nil }
        staying = nil
        return found.digests
    }
}
