extension Scheduler {
    /// What is wrong with the locks: the table is compared with what the units say, and the waits are searched for circles.
    func lockViolations() -> [String] {
        let table = durable.locks
        var found: [String] = []
        var expected = 0
        for submission in durable.submissions {
            guard submission.layout.locks != nil else { continue }
            if !submission.releasing.isEmpty { found.append("\(submission.id): locks are still to be released") }
            for unit in submission.units.indices {
                let state = submission.units[unit]
                if state.phase == .dropped { continue }
                let path = "\(submission.id)/\(submission.path(of: unit))"
                let request = table.requests[UnitID(submission.number, unit)]
                if state.locks != .none { expected += 1 }
                switch (state.locks, request) {
                case (.none, nil): break
                case (.none, .some): found.append("\(path) has asked for locks, but does not know it")
                case (.asked, .some(let request)) where !request.isHeld && state.phase == .locking: break
                case (.held, .some(let request)) where request.isHeld && state.phase != .locking: break
                case (.asked, _), (.held, _):
                    found.append("\(path) is \(state.locks) in \(state.phase), the table has \(String(describing: request))")
                }
                if state.hasEnded, state.locks != .none { found.append("\(path) has ended and keeps locks") }
                if submission.lacksLocks(unit) {
                    switch state.phase {
                    case .blocked, .delayed, .held, .paused, .wanting, .postponed, .ended, .lingering, .dropped: break
                    // The end of a net that has passed a failure on has not run.
                    case .retryWait where submission.hasHeldMembers(unit) || submission.forwardedFailure(unit) != nil: break
                    case .locking, .preparing, .ready, .assigned, .provisional, .retryWait, .open:
                        found.append("\(path) goes on without its locks")
                    }
                }
            }
        }
        if expected != table.requests.count { found.append("\(table.requests.count) requests are in the table, there are \(expected)") }
        return found + table.violations() + waitCircles()
    }

    /// Units that wait for each other in a circle.
    private func waitCircles() -> [String] {
        guard !durable.locks.requests.isEmpty || !durable.ids.claims.isEmpty else { return [] }
        var search = WaitSearch(durable: durable)
        return search.circle().map { ["units wait for each other in a circle: \($0)"] } ?? []
    }
}

extension LockTable {
    fileprivate func violations() -> [String] {
        var found: [String] = []
        for (id, lock) in locks.sorted(by: { ($0.key.scope, $0.key.key) < ($1.key.scope, $1.key.key) }) {
            let name = "lock `\(keys[Int(id.key)])` in \(id.scope)"
            let waiters = lock.waiters.filter(isWaiting)
            let limits = lock.holders.compactMap { limit(of: $0, id) }
            if limits.count != lock.holders.count { found.append("\(name) is held by units that have not got it") }
            if let limit = limits.min(), lock.holders.count > limit {
                found.append("\(name) has \(lock.holders.count) holders, its limit is \(limit)")
            }
            if lock.holders.isEmpty, waiters.isEmpty { found.append("\(name) is kept for nobody") }
            if waiters.map(\.ticket) != waiters.map(\.ticket).sorted() { found.append("\(name): its line is out of order") }
            if let first = waiters.first, couldBeGranted(first.unit) { found.append("\(name): \(first.unit.rawValue) waits for nothing") }
        }
        return found
    }

    private func limit(of unit: UnitID, _ lock: LockID) -> Int? {
        guard let request = requests[unit], request.isHeld else { return nil }
        return request.terms.first { $0.lock == lock }.map { Int($0.limit) }
    }

    private func couldBeGranted(_ unit: UnitID) -> Bool {
        (requests[unit]?.terms ?? []).allSatisfy { term in
            guard let lock = locks[term.lock] else { return false }
            return lock.hasRoom && lock.waiters.first(where: isWaiting)?.unit == unit
        }
    }
}

/// Who waits for whom: ends and starts of units. Only for those who check.
private struct WaitSearch {
    private enum Mark { case open, done }
    private struct Vertex: Hashable {
        let unit: UnitID
        let isStart: Bool
    }
    let durable: DurableState
    private var marks: [Vertex: Mark] = [:]

    init(durable: DurableState) { self.durable = durable }

    /// The first circle that is found from those who wait for locks.
    mutating func circle() -> String? {
        let waiting = durable.locks.requests.filter { !$0.value.isHeld }.keys.sorted().map { Vertex(unit: $0, isStart: true) }
        let joining = durable.ids.claims.values.flatMap(\.joiners.keys).sorted().map { Vertex(unit: $0, isStart: false) }
        for origin in waiting + joining {
            guard let circle = circle(from: origin) else { continue }
            return circle.contains(where: hasChoice) ? circleOfStuck(from: waiting + joining) : text(circle)
        }
        return nil
    }

    private func text(_ circle: [Vertex]) -> String { circle.map(name).joined(separator: " → ") }

    /// Whether one of those that it waits for is enough: who waits for a place in its group takes whichever is free first.
    private func hasChoice(_ vertex: Vertex) -> Bool {
        vertex.isStart && durable.submission(vertex.unit.submission).units[vertex.unit.index].phase == .held
    }

    /// A circle among those that could not go on if all others did.
    ///
    /// - Complexity: O(waits²); a circle in which somebody has a choice is seldom.
    private func circleOfStuck(from origins: [Vertex]) -> String? {
        var waits: [Vertex: [Vertex]] = [:]
        var order: [Vertex] = []
        var open = origins
        while let vertex = open.popLast() {
            guard waits[vertex] == nil else { continue }
            let found = self.waits(of: vertex)
            waits[vertex] = found
            order.append(vertex)
            open += found
        }
        var stuck = Set(order)
        var isShrinking = true
        while isShrinking {
            isShrinking = false
            for vertex in order.reversed() where stuck.contains(vertex) {
                let found = waits[vertex] ?? []
                let goesOn =
                    hasChoice(vertex) && !found.isEmpty ? !found.allSatisfy(stuck.contains) : !found.contains(where: stuck.contains)
                if goesOn, stuck.remove(vertex) != nil { isShrinking = true }
            }
        }
        guard var vertex = order.first(where: stuck.contains) else { return nil }
        var path: [Vertex] = []
        while !path.contains(vertex) {
            path.append(vertex)
            guard let next = waits[vertex]?.first(where: stuck.contains) else { return nil }
            vertex = next
        }
        return text(Array(path.drop { $0 != vertex }))
    }

    private mutating func circle(from origin: Vertex) -> [Vertex]? {
        guard marks[origin] == nil else { return nil }
        var stack: [(vertex: Vertex, rest: [Vertex])] = [(origin, waits(of: origin))]
        marks[origin] = .open
        while let top = stack.last {
            guard let next = top.rest.last else {
                marks[top.vertex] = .done
                stack.removeLast()
                continue
            }
            stack[stack.count - 1].rest.removeLast()
            switch marks[next] {
            case .done?: break
            case .open?:
                let from = stack.firstIndex { $0.vertex == next } ?? 0
                return stack[from...].map(\.vertex)
            case nil:
                marks[next] = .open
                stack.append((next, waits(of: next)))
            }
        }
        return nil
    }

    private func name(_ vertex: Vertex) -> String {
        let submission = durable.submission(vertex.unit.submission)
        return "\(vertex.isStart ? "start" : "end") of \(submission.id)/\(submission.path(of: vertex.unit.index))"
    }

    /// What has to come first.
    private func waits(of vertex: Vertex) -> [Vertex] {
        let submission = durable.submission(vertex.unit.submission)
        let unit = vertex.unit.index
        func end(_ other: Int) -> Vertex { Vertex(unit: UnitID(submission.number, other), isStart: false) }
        func start(_ other: Int) -> Vertex { Vertex(unit: UnitID(submission.number, other), isStart: true) }
        if submission.duplicate(unit) != nil {
            return [submission.memberBefore(unit).map(end), submission.joined(unit).map { Vertex(unit: $0, isStart: false) }].compactMap(
                \.self)
        }
        switch submission.units[unit].phase {
        case .ended, .lingering, .dropped:
            return []
        case .provisional:
            return vertex.isStart ? [] : submission.openStreamProducer(of: unit).map { [end($0)] } ?? []
        case .preparing:
            return vertex.isStart ? [] : submission.preparations(of: unit).filter { !submission.units[$0].hasEnded }.map(end)
        case .delayed, .paused, .wanting, .ready, .postponed, .assigned, .retryWait, .open:
            return vertex.isStart ? [] : submission.children(of: unit).filter { !submission.units[$0].hasEnded }.map(end)
        case .blocked, .held, .locking:
            guard vertex.isStart else {
                return [start(unit)] + submission.children(of: unit).filter { !submission.units[$0].hasEnded }.map(end)
            }
        }
        switch submission.units[unit].phase {
        case .locking: return lockWaits(of: vertex.unit)
        case .held:
            return submission.children(of: Int(submission.units[unit].parent)).filter { submission.units[$0].isActive }.map(end)
        case .blocked, .delayed, .paused, .wanting, .preparing, .ready, .postponed, .assigned, .retryWait, .provisional, .open, .ended,
            .lingering, .dropped:
            let dependencies = (submission.predecessors(of: unit) + [submission.memberBefore(unit)].compactMap(\.self))
                .filter { !submission.units[$0].hasEnded }
            let parent = Int(submission.units[unit].parent)
            return dependencies.map(end) + (parent >= 0 ? [start(parent)] : [])
        }
    }

    private func lockWaits(of unit: UnitID) -> [Vertex] {
        let table = durable.locks
        var found: [Vertex] = []
        for term in table.requests[unit]?.terms ?? [] {
            guard let lock = table.locks[term.lock] else { continue }
            if !lock.hasRoom { found += lock.holders.map { Vertex(unit: $0, isStart: false) } }
            found += table.ahead(of: unit, in: lock).map { Vertex(unit: $0, isStart: true) }
        }
        return found
    }
}
