import Wire

/// One attempt of one unit: what everything an executor does is about.
struct UnitKey: Hashable, Sendable {
    let unit: UInt64
    let attempt: UInt64
}

extension UnitKey {
    init(_ assignment: WireAssignment) { self.init(unit: assignment.unit, attempt: assignment.attempt) }
    init(_ unit: WireHeldUnit) { self.init(unit: unit.unit, attempt: unit.attempt) }
    init(_ unit: WireAcknowledgedUnit) { self.init(unit: unit.unit, attempt: unit.attempt) }
    init(_ stop: WireStopUnit) { self.init(unit: stop.unit, attempt: stop.attempt) }
}

extension UnitKey: CustomStringConvertible {
    var description: String { "\(unit)#\(attempt)" }
}
