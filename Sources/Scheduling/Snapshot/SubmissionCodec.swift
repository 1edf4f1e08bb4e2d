import DequeModule

/// A submission as it stands: its graph, what was added to it, its units, and what is kept of these.
extension Submission {
    func write(into writer: inout ByteWriter) {
        writer.write(UInt64(number.rawValue))
        writer.write(id)
        writer.write(key)
        writer.write(name)
        writer.write(submittedAt)
        writer.write(submitter.rawValue)
        writer.write(waitsForWorkers)
        writer.write(principal)
        writer.write(list: operations) { $0.write($1) }
        writer.write(wholeGraph: submittedGraph)
        writer.write(list: Array(origins.indices)) { $0.write(addition: additionGraph($1), below: group(ofAddition: $1), origins[$1]) }
        writer.write(units: units, since: submittedAt)
        writeGroups(into: &writer)
        writeUnits(into: &writer)
        writeEnds(into: &writer)
        writer.write(table: deathPlaces) { writer, names in writer.write(list: names) { $0.write($1) } }
        writer.write(list: strays) { writer, stray in
            writer.write(stray.unit)
            writer.write(stray.attempt.rawValue)
            writer.write(UInt64(stray.worker.rawValue))
        }
        writer.write(trace: trace)
        writeNotes(into: &writer)
    }

    /// What newer layouts have at the end: each only where it, or something behind it, holds anything.
    private func writeNotes(into writer: inout ByteWriter) {
        let hasJoined = !joinedUnits.isEmpty || kept != nil
        let hasFailures = !earlierFailures.isEmpty || hasJoined
        let hasReasons = !cancellations.isEmpty || hasFailures
        if !earlierAttempts.isEmpty || !strays.isEmpty || hasReasons {
            writer.write(table: earlierAttempts) { $0.write(earlierAttempts: $1) }
        }
        if !strays.isEmpty || hasReasons { writer.write(list: strays) { $0.write($1.number) } }
        if hasReasons { writer.write(table: cancellations) { $0.write($1) } }
        if hasFailures { writer.write(table: earlierFailures) { $0.write(earlierFailures: $1) } }
        if hasJoined { writer.write(table: joinedUnits) { $0.write($1.rawValue) } }
        if let kept { writer.write(kept: kept) }
    }

    private func additionGraph(_ index: Int) -> Graph {
        let origin = origins[index]
        let next = index + 1 < origins.count ? origins[index + 1] : nil
        return layout.addition(
            Int(origin.firstNode)..<(next.map { Int($0.firstNode) } ?? layout.graph.nodes.count),
            parameters: Int(origin.firstParameter)..<(next.map { Int($0.firstParameter) } ?? layout.graph.parameters.count),
            root: origin.root)
    }

    /// The group's node.
    private func group(ofAddition index: Int) -> Int { layout.graph.nodes[Int(origins[index].firstNode)].parent }

    private func writeGroups(into writer: inout ByteWriter) {
        for count in [counts.total, counts.succeeded, counts.failed, counts.cancelled] { writer.write(count: count) }
        writer.write(hasBegun)
        writer.write(cancelReason)
        writer.write(endCount)
        writer.write(units: keyNumbers)
        writer.write(table: elements) { writer, list in
            writer.write(list: Array(0..<list.count)) { $0.write(list[$1]) }
        }
        writer.write(table: heldChildren) { $0.write(units: $1) }
        writer.write(table: growths) { writer, growth in
            writer.write(units: growth.children)
            writer.write(list: growth.names.sorted()) { $0.write($1) }
            writer.write(table: growth.produced, key: { $0.write($1) }, value: { $0.write($1) })
            writer.write(count: growth.decisions)
        }
        writer.write(table: producers) { $0.write($1) }
        writer.write(table: before) { $0.write($1) }
        writer.write(table: decisions) { $0.write(line: $1) }
        writer.write(table: wrapped) { $0.write($1) }
    }

    private func writeUnits(into writer: inout ByteWriter) {
        writer.write(table: deadlines) { $0.write($1) }
        writer.write(table: lastFailures) { $0.write(wholeFailures: [$1]) }
        writer.write(table: verdicts) { $0.write(verdicts: $1) }
        writer.write(table: pauses) { $0.write($1) }
        writer.write(table: standings) { $0.write(standing: $1) }
        writer.write(table: joinedValues) { $0.write(received: $1) }
        writer.write(table: lockCycles) { $0.write($1) }
        for texts in [quarantines, misfits, seizures] { writer.write(table: texts) { $0.write($1) } }
        writer.write(table: histories) { writer, entries in
            writer.write(list: entries) { writer, entry in
                writer.write(entry.at)
                writer.write(entry.event.rawValue)
                writer.write(entry.text)
            }
        }
    }

    private func writeEnds(into writer: inout ByteWriter) {
        for set in [endedEarly, begunStreams, begunAnew] { writer.write(units: set.sorted()) }
        writer.write(list: fencedAttempts.sorted()) { $0.write($1.rawValue) }
        writer.write(table: provisional) { $0.write(success: $1) }
        writer.write(count: heldEndCount)
        writer.write(table: heldEnds) { writer, held in
            writer.write(count: held.number)
            writer.write(ending: held.ending)
            writer.write(held.isByBody)
            writer.write(optional: held.stop) { $0.write($1.rawValue) }
            writer.write(optional: held.timeLeft) { $0.write($1) }
        }
        writer.write(table: scoped) { $0.write(ending: $1) }
    }
}

extension Submission {
    init(_ reader: inout ByteReader) throws(DecodingFailure) {
        let number = SubmissionNumber(try reader.unsigned32())
        let (id, key, name) = (try reader.text(), try reader.text(), try reader.text())
        let at = try reader.signed()
        let submitter = Incarnation(try reader.unsigned())
        let waits = try reader.flag()
        let (principal, operations) = (try reader.text(), try reader.texts())
        self.init(
            Admission(
                number: number, id: id, key: key, name: name, graph: try reader.wholeGraph(), at: at, submitter: submitter,
                waitsForWorkers: waits, principal: principal, operations: operations))
        origins = try reader.list { reader throws(DecodingFailure) in try reader.addition(to: &layout) }
        units = try reader.units(since: at)
        guard !units.isEmpty, units.allSatisfy({ layout.graph.nodes.indices.contains(Int($0.node)) }) else {
            throw DecodingFailure("submission \(id) has units of nodes that its graph has not")
        }
        try readGroups(from: &reader)
        try readUnits(from: &reader)
        try readEnds(from: &reader)
        // Since layout 4.
        if !reader.isAtEnd { deathPlaces = try reader.table { reader throws(DecodingFailure) in try reader.texts() } }
        // Since layout 5.
        if !reader.isAtEnd {
            strays = try reader.list { reader throws(DecodingFailure) in
                Stray(
                    unit: try reader.signed32(), attempt: Attempt(rawValue: try reader.unsigned()), number: 0,
                    worker: WorkerNumber(try reader.unsigned32()))
            }
        }
        // Since layout 6.
        if !reader.isAtEnd { trace = try reader.trace() }
        // Since layout 7, and only where there is something.
        if !reader.isAtEnd { earlierAttempts = try reader.table { reader throws(DecodingFailure) in try reader.earlierAttempts() } }
        // Since layout 8, and only where there is something behind it or in it.
        if !reader.isAtEnd { try readStrayNumbers(from: &reader) }
        // Since layout 11, and only where there is something behind it or in it. Before that only the last reason was known, not what it
        // was for.
        if !reader.isAtEnd { cancellations = try reader.table { reader throws(DecodingFailure) in try reader.text() } }
        // Since layout 12, and only where there is something behind it or in it.
        if !reader.isAtEnd { earlierFailures = try reader.table { reader throws(DecodingFailure) in try reader.earlierFailures() } }
        // Since layout 14, and only where there is something behind it or in it.
        if !reader.isAtEnd { joinedUnits = try reader.table { reader throws(DecodingFailure) in UnitID(rawValue: try reader.unsigned()) } }
        if !reader.isAtEnd { kept = try reader.keptOutcomes() }
        try checkUnitNumbers()
    }

    /// Units name each other, and tables name units, by their numbers.
    private func checkUnitNumbers() throws(DecodingFailure) {
        for (number, unit) in units.enumerated() {
            let (first, count) = (Int(unit.firstInstance), Int(unit.instances))
            guard (-1..<number).contains(Int(unit.parent)), (unit.parent < 0) == (number == 0), (0...number).contains(Int(unit.base)),
                count >= 0, count == 0 || units.indices.contains(first), unit.attempts >= 0, unit.failedAttempts >= 0, unit.crashes >= 0
            else { throw DecodingFailure("unit \(number) of submission \(id) names units that are not there") }
        }
        let named: [any Sequence<Int32>] = [
            elements.keys, heldChildren.keys, growths.keys, producers.keys, producers.values, before.keys, before.values, decisions.keys,
            wrapped.keys, wrapped.values, deadlines.keys, lastFailures.keys, verdicts.keys, pauses.keys, standings.keys, joinedValues.keys,
            lockCycles.keys, quarantines.keys, misfits.keys, seizures.keys, histories.keys, endedEarly, begunStreams, begunAnew,
            provisional.keys, heldEnds.keys, scoped.keys, deathPlaces.keys, earlierAttempts.keys, earlierFailures.keys, cancellations.keys,
            joinedUnits.keys, strays.map(\.unit),
            heldChildren.values.joined(), growths.values.flatMap(\.children),
            decisions.values.flatMap { $0.due.filter { $0 != DecisionLine.begin } },
        ]
        for numbers in named where !numbers.allSatisfy({ units.indices.contains(Int($0)) }) {
            throw DecodingFailure("submission \(id) says something of units that are not there")
        }
    }

    private mutating func readStrayNumbers(from reader: inout ByteReader) throws(DecodingFailure) {
        let numbers = try reader.list { reader throws(DecodingFailure) in try reader.signed32() }
        guard numbers.count == strays.count else {
            throw DecodingFailure("submission \(id) has not a number for each attempt that may go on")
        }
        strays = zip(strays, numbers).map { Stray(unit: $0.unit, attempt: $0.attempt, number: $1, worker: $0.worker) }
    }

    private mutating func readGroups(from reader: inout ByteReader) throws(DecodingFailure) {
        counts = Counts()
        counts.total = try reader.index()
        counts.succeeded = try reader.index()
        counts.failed = try reader.index()
        counts.cancelled = try reader.index()
        hasBegun = try reader.flag()
        let reason = try reader.text()
        if !reason.isEmpty { cancellations = [0: reason] }
        endCount = try reader.signed32()
        keyNumbers = try reader.units()
        elements = try reader.table { reader throws(DecodingFailure) in
            ElementList(try reader.list { reader throws(DecodingFailure) in try reader.content() })
        }
        heldChildren = try reader.table { reader throws(DecodingFailure) in Deque(try reader.units()) }
        growths = try reader.table { reader throws(DecodingFailure) in
            Growth(
                children: try reader.units(), names: Set(try reader.texts()),
                produced: try reader.table(
                    key: { reader throws(DecodingFailure) in try reader.text() },
                    value: { reader throws(DecodingFailure) in try reader.signed32() }),
                decisions: try reader.index())
        }
        producers = try reader.table { reader throws(DecodingFailure) in try reader.signed32() }
        before = try reader.table { reader throws(DecodingFailure) in try reader.signed32() }
        decisions = try reader.table { reader throws(DecodingFailure) in try reader.decisionLine() }
        wrapped = try reader.table { reader throws(DecodingFailure) in try reader.signed32() }
    }

    private mutating func readUnits(from reader: inout ByteReader) throws(DecodingFailure) {
        deadlines = try reader.table { reader throws(DecodingFailure) in try reader.signed() }
        lastFailures = try reader.table { reader throws(DecodingFailure) in
            guard let failure = try reader.wholeFailures().first else { throw DecodingFailure("a last failure is missing") }
            return failure
        }
        verdicts = try reader.table { reader throws(DecodingFailure) in try reader.verdicts() }
        pauses = try reader.table { reader throws(DecodingFailure) in try reader.signed() }
        standings = try reader.table { reader throws(DecodingFailure) in try reader.standing() }
        joinedValues = try reader.table { reader throws(DecodingFailure) in try reader.received(depth: 0) }
        lockCycles = try reader.table { reader throws(DecodingFailure) in try reader.lockCircle() }
        quarantines = try reader.table { reader throws(DecodingFailure) in try reader.text() }
        misfits = try reader.table { reader throws(DecodingFailure) in try reader.text() }
        seizures = try reader.table { reader throws(DecodingFailure) in try reader.text() }
        histories = try reader.table { reader throws(DecodingFailure) in
            try reader.list { reader throws(DecodingFailure) in
                let (at, word) = (try reader.signed(), try reader.text())
                guard let event = HistoryEntry.Event(rawValue: word) else {
                    throw DecodingFailure("`\(word)` is nothing that happens to an attempt")
                }
                return HistoryEntry(at: at, event: event, text: try reader.text())
            }
        }
    }

    private mutating func readEnds(from reader: inout ByteReader) throws(DecodingFailure) {
        endedEarly = Set(try reader.units())
        begunStreams = Set(try reader.units())
        begunAnew = Set(try reader.units())
        fencedAttempts = Set(try reader.list { reader throws(DecodingFailure) in Attempt(rawValue: try reader.unsigned()) })
        provisional = try reader.table { reader throws(DecodingFailure) in try reader.success() }
        heldEndCount = try reader.index()
        heldEnds = try reader.table { reader throws(DecodingFailure) in
            HeldEnd(
                number: try reader.index(), ending: try reader.ending(), isByBody: try reader.flag(),
                stop: try reader.optional { reader throws(DecodingFailure) in try reader.stop() },
                timeLeft: try reader.optional { reader throws(DecodingFailure) in try reader.signed() })
        }
        scoped = try reader.table { reader throws(DecodingFailure) in try reader.ending() }
    }
}
