import AOperation
import Wire

/// What an executor does with the partial results of its units: spools them, and holds their ends back until they are on
/// the coordinator's disk, so that whoever hears of an end finds all elements. Touched on one thread only.
package struct ElementDesk {
    private var spool = ElementSpool()
    private var gates: [UnitKey: ElementGate] = [:]
    /// Ends that wait for their elements.
    private var withheld: [UnitKey: WireUnitReport] = [:]
    /// Why an attempt fails, whatever it reports.
    private var failures: [UnitKey: WireOperationFailure] = [:]
    /// How many elements each has sent.
    private var counts: [UnitKey: @Sendable () -> Int] = [:]

    package init() {}

    /// The attempt begins.
    /// - Parameter sent: how many elements it has sent, whether they have come here or not.
    package mutating func open(_ key: UnitKey, _ gate: ElementGate, sent: @escaping @Sendable () -> Int) {
        spool.open(key)
        gates[key] = gate
        counts[key] = sent
    }

    /// Something that was sent is not on the coordinator's disk, and is not kept for a later try either.
    package var isUnderWay: Bool {
        guard deadline == nil else { return false }
        return !withheld.isEmpty || counts.contains { key, sent in spool.expected(key).map { UInt64(sent()) > $0 } ?? false }
    }

    package mutating func receive(_ event: ElementRelay.Event, of key: UnitKey) {
        switch event {
        case .element(let element):
            if !spool.append(element, of: key) { gates[key]?.end() }
        case .closed: spool.close(key)
        case .failed(let failure):
            guard spool.isOpen(key) else { return }
            failures[key] = failure
            spool.close(key)
        }
    }

    /// The report as it may be sent; nil: not yet.
    package mutating func admit(_ report: WireUnitReport) -> WireUnitReport? {
        guard case .ended(let end)? = report.body else { return report }
        let key = UnitKey(unit: report.unit, attempt: report.attempt)
        guard spool.isOpen(key) else { return final(report, key) }
        if case .stopped? = end.outcome, failures[key] == nil {
            // Nobody waits for what a cancelled operation sent last.
            drop(key)
            return report
        }
        withheld[key] = report
        return nil
    }

    private func final(_ report: WireUnitReport, _ key: UnitKey) -> WireUnitReport {
        guard let failure = failures[key] else { return report }
        var report = report
        report.ended.failure = .with { $0.errors = [failure] }
        return report
    }

    /// - Returns: ends that waited for this.
    package mutating func receive(_ receipts: [WireElementReceipt], now: Int64) -> [WireUnitReport] {
        var ends: [WireUnitReport] = []
        for receipt in receipts {
            let key = UnitKey(unit: receipt.unit, attempt: receipt.attempt)
            let progress = spool.received(receipt, now: now)
            let freed = progress.freed.reduce(0, +)
            if freed > 0 { gates[key]?.leave(bytes: freed) }
            guard progress.isOver else { continue }
            gates.removeValue(forKey: key)?.end()
            counts[key] = nil
            if let report = withheld.removeValue(forKey: key) { ends.append(final(report, key)) }
        }
        return ends
    }

    /// The coordinator stops the unit: its end waits for nothing any more.
    package mutating func release(_ key: UnitKey) -> WireUnitReport? {
        let report = withheld.removeValue(forKey: key).map { final($0, key) }
        drop(key)
        return report
    }

    /// Nothing of the unit is needed any more.
    package mutating func forget(_ key: UnitKey) {
        withheld[key] = nil
        failures[key] = nil
        drop(key)
    }

    private mutating func drop(_ key: UnitKey) {
        spool.discard(key)
        counts[key] = nil
        gates.removeValue(forKey: key)?.end()
    }

    package mutating func forgetSent() { spool.forgetSent() }

    package mutating func take(now: Int64) -> [WireElementBatch] { spool.take(now: now) }

    package var deadline: Int64? { spool.deadline }
}
