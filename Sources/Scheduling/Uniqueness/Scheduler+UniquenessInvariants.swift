extension Scheduler {
    /// What is wrong with the unique ids: the table is compared with what the units say.
    func uniquenessViolations() -> [String] {
        var found: [String] = []
        var active: [UniqueTable.Key: String] = [:]
        var joined = 0
        for submission in durable.submissions {
            if submission.hasUniqueNews { found.append("\(submission.id): ids are still to be claimed or freed") }
            guard submission.layout.hasUnique else { continue }
            for unit in submission.units.indices where submission.isUnique(unit) {
                let state = submission.units[unit]
                if state.phase == .dropped { continue }
                let own = UnitID(submission.number, unit)
                let path = "\(submission.id)/\(submission.path(of: unit))"
                let isActive = !state.hasEnded && (state.parent < 0 || submission.hasCalled(Int(state.parent), unit))
                switch (isActive, submission.standings[Int32(unit)]) {
                case (false, nil): break
                case (false, .some): found.append("\(path) is not active, but has to do with an id")
                case (true, nil): found.append("\(path) is active without its id")
                case (true, .claimed(let id)?):
                    let key = UniqueTable.Key(principal: submission.principal, id: id)
                    if let other = active.updateValue(path, forKey: key) { found.append("\(path) and \(other) are both active as `\(id)`") }
                    if durable.ids.claims[key]?.holder != own { found.append("\(path) thinks that it has `\(id)`") }
                case (true, .duplicate(let duplicate)?):
                    if state.phase != .blocked { found.append("\(path) is a duplicate and goes on") }
                    if submission.joined(unit) != nil {
                        joined += 1
                        let claim = durable.ids.claims[.init(principal: submission.principal, id: duplicate.id)]
                        if claim?.holder != duplicate.first || claim?.joiners[own] == nil { found.append("\(path) waits for nobody") }
                    } else if submission.memberBefore(unit) == nil, state.stop == nil {
                        found.append("\(path) is a duplicate that could have ended")
                    }
                }
            }
        }
        let claims = durable.ids.claims
        if claims.count != active.count { found.append("\(claims.count) ids are in the table, \(active.count) are claimed") }
        let joiners = claims.values.reduce(0) { $0 + $1.joiners.count }
        if joiners != joined { found.append("\(joiners) joiners are in the table, there are \(joined)") }
        return found
    }
}
