extension Scheduler.Configuration {
    /// For a flight recorder: the same decisions take the same configuration.
    public var recorded: [UInt8] {
        var writer = ByteWriter()
        writer.write(leaseMilliseconds)
        writer.write(lockLeaseMilliseconds)
        writer.write(orphanLimitMilliseconds)
        writer.write(reconnectMaximumMilliseconds)
        writer.write(graceMillisecondsDefault)
        writer.write(count: crashLimit)
        writer.write(optional: retentionMilliseconds) { $0.write($1) }
        writer.write(optional: retentionBytes) { $0.write($1) }
        for number in [
            pageBytes, unitsMax, keysMax, followsPerPeerMax, graphLimits.nodesMax, graphLimits.depthMax, graphLimits.elementsMax,
        ] {
            writer.write(count: number)
        }
        writer.write(count: graphLimits.unitsMax)
        writer.write(list: builtInOperations) { $0.write($1) }
        writer.write(list: builtInConditions) { $0.write($1) }
        return writer.bytes
    }

    /// - Throws: `DecodingFailure`.
    public init(recorded bytes: ArraySlice<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        self.init()
        leaseMilliseconds = try reader.signed()
        lockLeaseMilliseconds = try reader.signed()
        orphanLimitMilliseconds = try reader.signed()
        reconnectMaximumMilliseconds = try reader.signed()
        graceMillisecondsDefault = try reader.signed()
        crashLimit = try reader.index()
        retentionMilliseconds = try reader.optional { reader throws(DecodingFailure) in try reader.signed() }
        retentionBytes = try reader.optional { reader throws(DecodingFailure) in try reader.signed() }
        pageBytes = try reader.index()
        unitsMax = try reader.index()
        keysMax = try reader.index()
        followsPerPeerMax = try reader.index()
        let (nodes, depth, elements) = (try reader.index(), try reader.index(), try reader.index())
        graphLimits = GraphLimits(nodesMax: nodes, depthMax: depth, elementsMax: elements)
        graphLimits.unitsMax = try reader.index()
        builtInOperations = try reader.texts()
        builtInConditions = try reader.texts()
        guard reader.isAtEnd else { throw DecodingFailure("bytes are left behind the configuration") }
    }
}
