/// Attempts of groups that are tried again, by when their first conditions were asked.
extension Account {
    /// By node: where the attempts of the groups around it that count begin, and where they end: the last ones, if nothing else is chosen.
    func windows(choosing chosen: [Int: Range<Int>]) -> [Range<Int>] {
        var windows: [Range<Int>] = []
        // Groups come before what is in them.
        for node in plan.nodes.indices {
            guard let parent = plan.nodes[node].parent else {
                windows.append(0..<events.count)
                continue
            }
            windows.append(chosen[parent] ?? attempts(of: parent, in: windows[parent]).last ?? windows[parent])
        }
        return windows
    }

    /// Each attempt of a group from where it begins to where the next one does, those included of which no more is seen than that; one
    /// alone of a group that is not tried again.
    func attempts(of group: Int, in places: Range<Int>) -> [Range<Int>] {
        let begins = plan.mayBeginAnew(group) ? beginnings(of: group, in: places) : []
        guard !begins.isEmpty else { return [places] }
        return zip(begins, begins.dropFirst() + [places.upperBound]).map { $0..<$1 }
    }

    private func beginnings(of group: Int, in places: Range<Int>) -> [Int] {
        everyJudgement[group].filter { $0.condition == 0 && places.contains($0.place) }.map(\.place)
    }

    /// How often the group has begun at most, as far as it was seen: what was asked may have been asked again, and nothing else done.
    func beginnings(of group: Int) -> Int { beginnings(of: group, in: windows[group]).count }

    /// The attempts of a group in which something was done.
    func attempts(of group: Int) -> [Range<Int>] {
        let runs = runs(inside: group)
        return attempts(of: group, in: windows[group]).filter { attempt in runs.contains { attempt.contains($0.start) } }
    }

    /// All attempts of the groups around a node.
    func everyWindow(of node: Int) -> [Range<Int>] {
        plan.groupsThatMayBeginAnew(around: node).reversed().reduce([0..<events.count]) { windows, group in
            windows.flatMap { attempts(of: group, in: $0) }
        }
    }

    /// Where listeners were told of a start, in whatever attempt.
    func everyStart(of node: Int) -> [Int] {
        places(of: node) { $0 == .start } + attempted[node].filter { $0.event == .told(node, .start) }.map(\.place)
    }

    /// The same run by attempts that were not the last ones. How they have ended is known of listeners in this process only.
    ///
    /// - Parameter around: only those of groups in this one.
    func earlierAttempts(inside around: Int = 0) -> [(group: Int, account: Account)] {
        // What a condition was asked in vain looks like another attempt.
        guard !hasKills else { return [] }
        let groups = plan.nodes.indices.filter { $0 != around && plan.isInside($0, around) && plan.mayBeginAnew($0) }
        return groups.flatMap { group in
            attempts(of: group, in: windows[group]).dropLast().flatMap { attempt -> [(group: Int, account: Account)] in
                let other = counting([group: attempt], areHeard: true)
                return [(group: group, account: other)] + other.earlierAttempts(inside: group)
            }
        }
    }

    /// The same run, as far as its attempts may have been others.
    var withOtherAttempts: [Account] {
        var selections: [[Int: Range<Int>]] = [[:]]
        for group in plan.nodes.indices where plan.mayBeginAnew(group) {
            let others = otherAttempts(of: group)
            selections += selections.flatMap { selection in others.map { selection.merging([group: $0]) { $1 } } }
        }
        return selections.dropFirst().map { counting($0, areHeard: false) }
    }

    /// What may have been the last attempt of a group instead of the one that began last.
    private func otherAttempts(of group: Int) -> [Range<Int>] {
        let seen = attempts(of: group, in: windows[group])
        // A condition may have been asked in vain when an attempt had begun.
        let longer = hasKills ? seen.dropLast().map { $0.lowerBound..<windows[group].upperBound } : []
        return longer + (mayHaveBegunUnseen(group) ? [events.count..<events.count] : [])
    }

    /// Who was stopped between two attempts may have begun the second one, of which nothing else is seen than that all in it was
    /// cancelled.
    private func mayHaveBegunUnseen(_ group: Int) -> Bool {
        guard let outcome = outcome(group) else { return true }
        return outcome.isCancelled || outcome.faults.first.map { isLimit($0, of: group) } == true
    }
}
