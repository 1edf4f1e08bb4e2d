import DequeModule

/// The tables that all submissions share.
extension LockTable {
    func write(into writer: inout ByteWriter) {
        writer.write(list: keys) { $0.write($1) }
        writer.write(lastTicket)
        writer.write(table: requests, key: { $0.write($1.rawValue) }) { writer, request in
            writer.write(request.ticket)
            writer.write(list: request.terms) { writer, term in
                writer.write(lock: term.lock)
                writer.write(term.limit)
            }
            writer.write(request.askedAt)
            writer.write(optional: request.heldSince) { $0.write($1) }
        }
        writer.write(table: locks, key: { $0.write(lock: $1) }) { writer, lock in
            writer.write(list: lock.holders) { $0.write($1.rawValue) }
            writer.write(list: Array(lock.waiters)) { writer, waiter in
                writer.write(waiter.unit.rawValue)
                writer.write(waiter.ticket)
            }
            writer.write(list: lock.limits) { writer, limit in
                writer.write(limit.limit)
                writer.write(count: limit.count)
            }
        }
    }

    init(_ reader: inout ByteReader) throws(DecodingFailure) {
        keys = try reader.texts()
        for (number, key) in keys.enumerated() { numbers[key] = Int32(number) }
        lastTicket = try reader.unsigned()
        requests = try reader.table(key: { reader throws(DecodingFailure) in try reader.unit() }) { reader throws(DecodingFailure) in
            Request(
                ticket: try reader.unsigned(),
                terms: try reader.list { reader throws(DecodingFailure) in
                    LockTerm(lock: try reader.lock(), limit: try reader.signed32())
                },
                askedAt: try reader.signed(), heldSince: try reader.optional { reader throws(DecodingFailure) in try reader.signed() })
        }
        locks = try reader.table(key: { reader throws(DecodingFailure) in try reader.lock() }) { reader throws(DecodingFailure) in
            var lock = Lock()
            lock.holders = try reader.list { reader throws(DecodingFailure) in try reader.unit() }
            lock.waiters = Deque(
                try reader.list { reader throws(DecodingFailure) in
                    Lock.Waiter(unit: try reader.unit(), ticket: try reader.unsigned())
                })
            lock.limits = try reader.list { reader throws(DecodingFailure) in (try reader.signed32(), try reader.index()) }
            return lock
        }
    }
}

extension RateTable {
    func write(into writer: inout ByteWriter) {
        writer.write(table: records, key: { $0.write($1) }) { writer, record in
            writer.write(times: record.starts)
            writer.write(count: record.kept)
        }
    }

    init(_ reader: inout ByteReader) throws(DecodingFailure) {
        records = try reader.table(key: { reader throws(DecodingFailure) in try reader.text() }) { reader throws(DecodingFailure) in
            Record(starts: Deque(try reader.times()), kept: try reader.index())
        }
    }
}

extension UniqueTable {
    func write(into writer: inout ByteWriter) {
        writer.write(lastPlace)
        writer.write(table: claims) { writer, key in
            writer.write(key.principal)
            writer.write(key.id)
        } value: { writer, claim in
            writer.write(claim.holder.rawValue)
            writer.write(table: claim.joiners, key: { $0.write($1.rawValue) }, value: { $0.write($1) })
        }
    }

    /// - Parameter hasPrincipals: whether it says whose the ids are.
    init(_ reader: inout ByteReader, hasPrincipals: Bool) throws(DecodingFailure) {
        lastPlace = try reader.unsigned()
        claims = try reader.table { reader throws(DecodingFailure) in
            Key(principal: hasPrincipals ? try reader.text() : "", id: try reader.text())
        } value: { reader throws(DecodingFailure) in
            Claim(
                holder: try reader.unit(),
                joiners: try reader.table(
                    key: { reader throws(DecodingFailure) in try reader.unit() },
                    value: { reader throws(DecodingFailure) in try reader.unsigned() }))
        }
    }
}

extension QuarantineTable {
    func write(into writer: inout ByteWriter) {
        writer.write(table: entries) { writer, key in
            writer.write(key.type)
            writer.write(count: key.version)
            writer.write(key.parameters)
            writer.write(list: key.bindings) { writer, binding in
                writer.write(binding.name)
                writer.write(count: binding.index)
                writer.write(binding.element)
            }
        } value: { writer, entry in
            writer.write(entry.until)
            writer.write(count: entry.newestVersion)
            writer.write(count: entry.crashes)
            writer.write(entry.place)
        }
    }

    init(_ reader: inout ByteReader) throws(DecodingFailure) {
        entries = try reader.table { reader throws(DecodingFailure) in
            Key(
                type: try reader.text(), version: try reader.index(), parameters: try reader.content(),
                bindings: try reader.list { reader throws(DecodingFailure) in
                    Binding(name: try reader.text(), index: try reader.index(), element: try reader.content())
                })
        } value: { reader throws(DecodingFailure) in
            Entry(
                until: try reader.signed(), newestVersion: try reader.index(), crashes: try reader.index(), place: try reader.text())
        }
    }
}

extension ResourceTable {
    func write(into writer: inout ByteWriter) {
        writer.write(list: hosts) { $0.write(resources: $1.taken) }
        writer.write(table: hostBySupervisor, key: { $0.write($1.rawValue) }, value: { $0.write(count: $1) })
        writer.write(table: holdings, key: { $0.write($1.rawValue) }, value: { $0.write(holding: $1) })
        writer.write(table: orphans) { writer, orphan in
            writer.write(orphan.unit.rawValue)
            writer.write(orphan.attempt.rawValue)
            writer.write(UInt64(orphan.worker.rawValue))
        } value: {
            $0.write(holding: $1)
        }
    }

    init(_ reader: inout ByteReader) throws(DecodingFailure) {
        hosts = try reader.list { reader throws(DecodingFailure) in Host(taken: try reader.resources()) }
        hostBySupervisor = try reader.table(
            key: { reader throws(DecodingFailure) in Incarnation(try reader.unsigned()) },
            value: { reader throws(DecodingFailure) in try reader.index() })
        holdings = try reader.table(
            key: { reader throws(DecodingFailure) in try reader.unit() },
            value: { reader throws(DecodingFailure) in try reader.holding() })
        orphans = try reader.table { reader throws(DecodingFailure) in
            Orphan(
                unit: try reader.unit(), attempt: Attempt(rawValue: try reader.unsigned()),
                worker: WorkerNumber(try reader.unsigned32()))
        } value: { reader throws(DecodingFailure) in
            try reader.holding()
        }
        let numbers = Array(hostBySupervisor.values) + holdings.values.map(\.host) + orphans.values.map(\.host)
        guard numbers.allSatisfy(hosts.indices.contains) else { throw DecodingFailure("a resource is taken of a host that is unknown") }
    }
}

extension SignatureTable {
    func write(into writer: inout ByteWriter) {
        let all = byName.sorted { $0.key < $1.key }.flatMap(\.value)
        writer.write(list: all) { $0.write(signature: $1, withElements: true, withParameters: true) }
    }

    init(_ reader: inout ByteReader) throws(DecodingFailure) {
        let all = try reader.list { reader throws(DecodingFailure) in
            try reader.signature(withElements: true, withParameters: true)
        }
        for signature in all { byName[signature.name, default: []].append(signature) }
    }
}

extension ByteWriter {
    fileprivate mutating func write(lock: LockID) {
        write(lock.scope)
        write(lock.key)
    }

    fileprivate mutating func write(holding: ResourceTable.Holding) {
        write(count: holding.host)
        write(resources: holding.resources)
    }

    fileprivate mutating func write(resources: [AssignedResource]) {
        write(list: resources) { writer, resource in
            writer.write(resource.name)
            writer.write(resource.amount)
            writer.write(list: resource.indices) { $0.write(count: $1) }
        }
    }
}

extension ByteReader {
    fileprivate mutating func unit() throws(DecodingFailure) -> UnitID { UnitID(rawValue: try unsigned()) }

    fileprivate mutating func lock() throws(DecodingFailure) -> LockID { LockID(scope: try unsigned(), key: try signed32()) }

    fileprivate mutating func holding() throws(DecodingFailure) -> ResourceTable.Holding {
        ResourceTable.Holding(host: try index(), resources: try resources())
    }

    fileprivate mutating func resources() throws(DecodingFailure) -> [AssignedResource] {
        try list { reader throws(DecodingFailure) in
            AssignedResource(
                name: try reader.text(), amount: try reader.signed(),
                indices: try reader.list { reader throws(DecodingFailure) in try reader.index() })
        }
    }
}
