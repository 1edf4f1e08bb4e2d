import DequeModule

/// When attempts started under rate limits: what survives of them. By key; looked up, never iterated but to be rebuilt.
struct RateTable {
    struct Record {
        /// Wall times, oldest first.
        var starts = Deque<Int64>()
        /// How many are remembered: the largest count that anybody named.
        var kept = 0
    }
    /// Of each key that was ever named, whether anything has started under it or not.
    var records: [String: Record] = [:]

    /// From now on as many starts are remembered as the limit counts.
    mutating func name(_ limit: RateLimit) {
        guard limit.count > records[limit.key]?.kept ?? 0 else { return }
        records[limit.key, default: Record()].kept = limit.count
    }

    mutating func start(_ limit: RateLimit, at: Int64) {
        var record = records.removeValue(forKey: limit.key) ?? Record()
        record.kept = max(record.kept, limit.count)
        record.starts.append(at)
        if record.starts.count > record.kept { record.starts.removeFirst(record.starts.count - record.kept) }
        records[limit.key] = record
    }
}

/// Those who wait for their turn under rate limits. Volatile: on boot time, so that a step of the wall clock moves nobody.
struct RateLines {
    struct Waiter: Comparable {
        /// Wall time of when it began to wait.
        let since: Int64
        let unit: UnitID

        static func < (one: Waiter, other: Waiter) -> Bool { (one.since, one.unit) < (other.since, other.unit) }
    }

    struct Line {
        var starts = Deque<Int64>()
        /// In line, in the order of their places; those that do not wait any more are skipped when their turn comes.
        var waiting = Deque<Waiter>()
        /// When the front of the line is looked at; nil: nobody waits.
        var wakeAt: Int64?
        /// For whom it is looked at then.
        var head: UnitID?
        /// Those who were called have until then to take their turns, if nobody starts before.
        var restsUntil: Int64 = 0

        /// Puts the unit where those stand who have waited as long, if it is not there already.
        /// - Complexity: O(log n) and a move of what stands behind it.
        mutating func stand(_ unit: UnitID, since: Int64) {
            let waiter = Waiter(since: since, unit: unit)
            var (low, high) = (0, waiting.count)
            while low < high {
                let middle = (low + high) / 2
                if waiting[middle] < waiter { low = middle + 1 } else { high = middle }
            }
            if low == waiting.count || waiting[low] != waiter { waiting.insert(waiter, at: low) }
        }

        /// When one more may start, if `woken` others do so now.
        func opening(_ limit: RateLimit, at now: Int64, woken: Int = 0) -> Int64 {
            let index = starts.count + woken - limit.count
            guard index >= 0 else { return now }
            return index < starts.count ? max(now, starts[index] + limit.perMilliseconds) : now + limit.perMilliseconds
        }
    }
    private(set) var numbers: [String: Int32] = [:]
    var lines: [Line] = []
    /// The lines that are watched for a unit: mostly one, as it stands in one. Looked up, never iterated.
    private(set) var heads: [UnitID: [Int32]] = [:]

    mutating func number(of key: String) -> Int32 {
        if let known = numbers[key] { return known }
        let number = Int32(lines.count)
        numbers[key] = number
        lines.append(Line())
        return number
    }

    /// - Parameter kept: how many are remembered.
    mutating func start(_ key: String, at boot: Int64, kept: Int) {
        let line = Int(number(of: key))
        lines[line].starts.append(boot)
        lines[line].restsUntil = 0
        if lines[line].starts.count > kept { lines[line].starts.removeFirst() }
    }

    /// - Parameter head: nil: nobody waits there.
    mutating func watch(_ number: Int32, for head: UnitID?) {
        let earlier = lines[Int(number)].head
        guard earlier != head else { return }
        lines[Int(number)].head = head
        if let earlier, var others = heads.removeValue(forKey: earlier) {
            others.removeAll { $0 == number }
            if !others.isEmpty { heads[earlier] = others }
        }
        if let head { heads[head, default: []].append(number) }
    }
}
