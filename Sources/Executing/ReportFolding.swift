import Wire

extension [WireUnitReport] {
    /// Without the starts of those whose ends follow: an end says when it began, so that one report tells both.
    ///
    /// What was told in between stands behind its start. O(n · s), s: the units that have begun and not ended, as many as there are slots.
    package var foldingStarts: [WireUnitReport] {
        var open: [(key: UnitKey, index: Int)] = []
        var folded: [Int] = []
        for (index, report) in enumerated() {
            let key = UnitKey(unit: report.unit, attempt: report.attempt)
            switch report.body {
            case .started?: open.append((key, index))
            case .ended(let end)? where end.startedAt > 0:
                guard let place = open.firstIndex(where: { $0.key == key }) else { continue }
                folded.append(open.remove(at: place).index)
            case .ended?, .stopping?, .released?, nil: open.removeAll { $0.key == key }
            }
        }
        guard !folded.isEmpty else { return self }
        folded.sort()
        var (kept, next) = ([WireUnitReport](), 0)
        kept.reserveCapacity(count - folded.count)
        for (index, report) in enumerated() {
            if next < folded.count, folded[next] == index { next += 1 } else { kept.append(report) }
        }
        return kept
    }
}
