import Wire

/// What running operations have produced under ids of their own, until the coordinator has it on its disk. Pure.
///
/// Each is kept until its receipt, and sent again after a reconnect; the end of an attempt is held back until nothing of it
/// is kept, so that whoever hears of an end finds all that it has produced.
package struct ProductDesk: Sendable {
    private struct Attempt {
        var next: UInt64 = 0
        var kept: [UInt64: WireAddition] = [:]
        /// Its end, which waits.
        var end: WireUnitReport?
        /// Why it fails, whatever it reports.
        var failure: WireOperationFailure?
    }

    private var attempts: [UnitKey: Attempt] = [:]
    /// What has begun by a link, until the coordinator knows how the one before has ended: to it, it has not begun.
    private var followers: [UnitKey: UnitKey] = [:]
    private var unsent: [(key: UnitKey, number: UInt64)] = []

    package init() {}

    /// The attempt has begun.
    package mutating func open(_ key: UnitKey) { attempts[key] = Attempt() }

    /// The attempt begins by a link: what it produces is sent when the one before is acknowledged, and so forgotten.
    package mutating func follow(_ key: UnitKey, after predecessor: UnitKey) { followers[key] = predecessor }

    /// - Returns: its number; nil: nobody wants it any more.
    @discardableResult
    package mutating func put(_ addition: WireAddition, of key: UnitKey) -> UInt64? {
        guard let number = attempts[key]?.next, attempts[key]?.end == nil else { return nil }
        attempts[key]?.next += 1
        attempts[key]?.kept[number] = addition
        unsent.append((key, number))
        return number
    }

    /// Something that it has produced cannot be sent.
    package mutating func fail(_ failure: WireOperationFailure, of key: UnitKey) {
        guard attempts[key] != nil, attempts[key]?.failure == nil else { return }
        attempts[key]?.failure = failure
    }

    /// The report as it may be sent; nil: not yet.
    package mutating func admit(_ report: WireUnitReport) -> WireUnitReport? {
        guard case .ended(let end)? = report.body else { return report }
        let key = UnitKey(unit: report.unit, attempt: report.attempt)
        guard let attempt = attempts[key] else { return report }
        // Nobody waits for what a cancelled operation has produced last.
        if case .stopped? = end.outcome, attempt.failure == nil { return report }
        guard attempt.kept.isEmpty else {
            attempts[key]?.end = report
            return nil
        }
        return final(report, attempt)
    }

    private func final(_ report: WireUnitReport, _ attempt: Attempt) -> WireUnitReport {
        guard let failure = attempt.failure else { return report }
        var report = report
        report.ended.clearAddition()
        report.ended.failure = .with { $0.errors = [failure] }
        return report
    }

    /// - Returns: the end that waited for this; and whether the attempt is to stop, as it fails.
    package mutating func receive(_ receipt: WireProductReceipt, host: String) -> (end: WireUnitReport?, stops: Bool) {
        let key = UnitKey(unit: receipt.unit, attempt: receipt.attempt)
        guard attempts[key]?.kept.removeValue(forKey: receipt.number) != nil else { return (nil, false) }
        if !receipt.problem.isEmpty {
            fail(
                .with {
                    $0.message = receipt.problem
                    $0.typeName = "ProductRefused"
                    $0.host = host
                }, of: key)
        }
        guard let attempt = attempts[key], attempt.kept.isEmpty, let end = attempt.end else { return (nil, !receipt.problem.isEmpty) }
        attempts[key]?.end = nil
        return (final(end, attempt), false)
    }

    /// The coordinator stops the unit: its end waits for nothing any more.
    package mutating func release(_ key: UnitKey) -> WireUnitReport? {
        followers[key] = nil
        guard let attempt = attempts.removeValue(forKey: key) else { return nil }
        return attempt.end.map { final($0, attempt) }
    }

    /// Nothing of the unit is needed any more.
    package mutating func forget(_ key: UnitKey) {
        attempts[key] = nil
        guard !followers.isEmpty else { return }
        followers[key] = nil
        followers = followers.filter { $0.value != key }
    }

    /// The connection is another one: nobody knows what of the last messages has arrived. Links are over with the one before.
    package mutating func forgetSent() {
        followers = [:]
        unsent = attempts.flatMap { key, attempt in attempt.kept.keys.map { (key: key, number: $0) } }
            .sorted { ($0.key.unit, $0.key.attempt, $0.number) < ($1.key.unit, $1.key.attempt, $1.number) }
    }

    /// What is to be sent.
    package mutating func take() -> [WireProductBatch] {
        guard !unsent.isEmpty else { return [] }
        let ready = unsent.filter { followers[$0.key] == nil }
        unsent = followers.isEmpty ? [] : unsent.filter { followers[$0.key] != nil }
        return ready.compactMap { key, number in
            guard let addition = attempts[key]?.kept[number] else { return nil }
            // Each in a message of its own: one may be as large as a message may be.
            return .with {
                $0.products = [
                    .with {
                        $0.unit = key.unit
                        $0.attempt = key.attempt
                        $0.number = number
                        $0.addition = addition
                    }
                ]
            }
        }
    }
}
