/// What became of the unique id of a unit that is active.
enum UniqueStanding {
    /// It has the id until it has ended.
    case claimed(String)
    case duplicate(Duplicate)

    struct Duplicate {
        let id: String
        /// The unit that had the id when this one became active.
        let first: UnitID
        /// It ends like the first one.
        let joins: Bool
        /// How it ends, once that is known.
        var ending: Ending?
    }

    struct Ending {
        let outcome: Outcome
        /// Of a group that succeeded: what the first one delivered.
        var received: Received?
    }
}

/// Unique ids: claimed when a unit becomes active, the root at admission and others when their group opens, and free when it
/// has ended. Who has which id is the cluster's (`UniqueTable`), and decided when the submission has settled.
extension Submission {
    /// Something of it has still to be told the table of unique ids.
    var hasUniqueNews: Bool { !claiming.isEmpty || !freeing.isEmpty }

    /// Whether the unit becomes active only with its unique id.
    @inline(__always)  // else the submission is copied for the call
    func isUnique(_ unit: Int) -> Bool { layout.hasUnique && node(unit).unique != nil }

    /// The unit's id; nil: it cannot be made, as it names something that no element has, or is too long.
    func uniqueID(of unit: Int) -> String? {
        guard let unique = node(unit).unique else { return nil }
        let id = unique.isTemplated ? UniqueTemplate.render(unique.id, bindings(of: unit)) : unique.id
        return id.flatMap { $0.isEmpty || $0.utf8.count > Graph.uniqueBytesMax ? nil : $0 }
    }

    /// nil: it is no duplicate.
    func duplicate(_ unit: Int) -> UniqueStanding.Duplicate? {
        guard !standings.isEmpty, case .duplicate(let duplicate)? = standings[Int32(unit)] else { return nil }
        return duplicate
    }

    /// What the unit waits for that has joined it; nil: it has not.
    func joined(_ unit: Int) -> UnitID? {
        guard let duplicate = duplicate(unit), duplicate.joins, duplicate.ending == nil else { return nil }
        return duplicate.first
    }

    /// Its group has begun: it waits for nothing of that any more, once it has its unique id. What becomes active behind something that
    /// claims one does so after that, with or without an id of its own: it does not overtake.
    mutating func activate(_ unit: Int) {
        if isUnique(unit) || rules >= Rules.claimsInOrder && !claiming.isEmpty {
            claiming.append(Int32(unit))
        } else {
            work.append(.release(Int32(unit)))
        }
    }

    // MARK: What the table says

    /// Those before it have claimed their ids; it has none.
    mutating func activateInTurn(_ unit: Int, at: Int64, _ effects: inout [Effect]) {
        work.append(.release(Int32(unit)))
        settle(at: at, &effects)
    }

    /// The unit has its id and goes on.
    mutating func takeID(_ unit: Int, _ id: String, at: Int64, _ effects: inout [Effect]) {
        standings[Int32(unit)] = .claimed(id)
        if units[unit].parent < 0 { approach(unit, at, &effects) } else { work.append(.release(Int32(unit))) }
        settle(at: at, &effects)
    }

    /// Its id cannot be made.
    mutating func failWithoutID(_ unit: Int, at: Int64, _ effects: inout [Effect]) {
        let text = node(unit).unique?.id ?? ""
        let failure = Failure(
            code: .parameters, publisher: path(of: unit),
            message: "its unique id `\(text)` cannot be made: an element lacks what it names, or it has more than"
                + " \(Graph.uniqueBytesMax) bytes; name what each element has, and let it be short",
            typeName: "UniqueIdInvalid", origin: path(of: unit))
        become(.init(id: "", first: id(unit), joins: false, ending: .init(outcome: .failure([failure]))), unit, at: at, &effects)
    }

    /// Another unit has its id. It takes nothing, and ends at once, or when the first one has; in an ordered group not before
    /// its turn.
    mutating func become(_ duplicate: UniqueStanding.Duplicate, _ unit: Int, at: Int64, _ effects: inout [Effect]) {
        standings[Int32(unit)] = .duplicate(duplicate)
        // What it waits for from now on; others have kept that of their group's start.
        if units[unit].parent < 0 { units[unit].unmet += 1 }
        endDuplicate(unit, at, &effects)
        settle(at: at, &effects)
    }

    /// The one that it has joined has ended.
    mutating func end(_ unit: Int, like ending: UniqueStanding.Ending, from first: UnitID, at: Int64, _ effects: inout [Effect]) {
        guard var duplicate = duplicate(unit), duplicate.joins, duplicate.ending == nil else { return }
        duplicate.ending = first.submission == number ? ending : adopted(ending, by: unit)
        standings[Int32(unit)] = .duplicate(duplicate)
        endDuplicate(unit, at, &effects)
        settle(at: at, &effects)
    }

    /// Paths of another submission mean nothing in this one: as far as this one is concerned the errors come from `unit`.
    private func adopted(_ ending: UniqueStanding.Ending, by unit: Int) -> UniqueStanding.Ending {
        guard case .failure(let failures) = ending.outcome else { return ending }
        let path = path(of: unit)
        return .init(
            outcome: .failure(
                failures.map { failure in
                    var failure = failure
                    failure.origin = path
                    return failure
                }))
    }

    /// Ends a duplicate, if it is known how, and if it is its turn.
    mutating func endDuplicate(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard let duplicate = duplicate(unit), let ending = duplicate.ending, !units[unit].hasEnded, units[unit].stop == nil,
            memberBefore(unit) == nil
        else { return }
        if let received = ending.received { joinedValues[Int32(unit)] = received }
        if duplicate.joins { joinedUnits[Int32(unit)] = duplicate.first }
        if units[unit].openChildren > 0 {
            units[unit].stop = .duplicate
            awaitChildren(of: unit, stoppedBy: .siblingFailed)
        } else {
            finish(unit, ending.outcome, at, &effects)
        }
    }

    /// How a duplicate ends whose children have ended.
    func duplicateOutcome(_ unit: Int) -> Outcome { duplicate(unit)?.ending?.outcome ?? .cancelled }

    /// The unit has ended: its id is free.
    mutating func letGoOfID(_ unit: Int) {
        guard let standing = standings.removeValue(forKey: Int32(unit)) else { return }
        switch standing {
        case .claimed(let id): freeing.append(.free(id, Int32(unit)))
        case .duplicate(let duplicate):
            if duplicate.joins, duplicate.ending == nil { freeing.append(.leave(duplicate.id, Int32(unit))) }
        }
    }

    /// How those end that have joined the unit.
    func ending(of unit: Int) -> UniqueStanding.Ending {
        guard let outcome = units[unit].outcome else {
            preconditionFailure("unit \(unit) of \(id) is joined to its end before it has ended")
        }
        if case .operation = node(unit).kind { return .init(outcome: outcome) }
        switch outcome {
        case .success: return .init(outcome: .success(.void), received: received(from: unit))
        case .failure: return .init(outcome: .failure(failures(of: unit)))
        case .cancelled: return .init(outcome: .cancelled)
        }
    }

    // MARK: Errors

    func duplicateFailure(_ unit: Int, id: String, of first: String, _ obstacle: JoinObstacle) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .duplicate, publisher: path,
            message: "is ignored: \(first) has the same unique id `\(id)` and was active\(obstacle.text)",
            typeName: "AOperationError.IgnoredDuplicate", origin: path, duplicateOf: first, detail: .uniqueID(id))
    }

    /// Whether a failed unit is a duplicate that was ignored, or a group that failed for want of anything worse: it counts
    /// for its group like one that was cancelled.
    func isIgnored(_ unit: Int) -> Bool {
        guard layout.hasUnique, case .failure(let own)? = units[unit].outcome else { return false }
        if let leading = own.first { return leading.code == .duplicate }
        var isFirstIgnored: Bool?
        for child in children(of: unit) {
            switch units[child].outcome {
            case .failure?:
                guard isIgnored(child) else { return false }
                isFirstIgnored = isFirstIgnored ?? true
            case .cancelled? where units[child].stop != .siblingFailed: isFirstIgnored = isFirstIgnored ?? false
            case .cancelled?, .success?, nil: break
            }
        }
        return isFirstIgnored ?? false
    }
}

/// What a submission has still to tell the table of unique ids.
enum UniqueRelease {
    case free(String, Int32)
    /// It had joined the unit with this id, and has ended by itself.
    case leave(String, Int32)
}
