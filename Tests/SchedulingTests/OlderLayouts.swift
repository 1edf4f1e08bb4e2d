import Scheduling

extension [Fact] {
    /// As an older release wrote them, whose starts named no rules.
    var ofTheFirstRules: [Fact] {
        map { fact in
            guard case .epochStarted(let epoch, let incarnation, let at, _) = fact else { return fact }
            return .epochStarted(epoch: epoch, incarnation: incarnation, at: at)
        }
    }
}

extension [UInt8] {
    /// What submissions share in a snapshot, as it began in an older layout, which did not have the rules, and perhaps not the last late start;
    /// its numbers have seven bits in each byte.
    func ofLayout(_ layout: UInt8) -> [UInt8] {
        let ends = indices.filter { self[$0] < 0x80 }
        let lateStart = layout < 9 ? [] : self[(ends[2] + 1)...ends[3]]
        return [layout] + self[(ends[0] + 1)...ends[2]] + lateStart + self[(ends[4] + 1)...]
    }
}
