import Wire

/// One attempt of one unit: what everything an executor does is about.
package struct UnitKey: Hashable, Sendable {
    package let unit: UInt64
    package let attempt: UInt64

    package init(unit: UInt64, attempt: UInt64) {
        self.unit = unit
        self.attempt = attempt
    }
}

extension UnitKey {
    package init(_ assignment: WireAssignment) { self.init(unit: assignment.unit, attempt: assignment.attempt) }
    package init(_ unit: WireHeldUnit) { self.init(unit: unit.unit, attempt: unit.attempt) }
    package init(_ unit: WireAcknowledgedUnit) { self.init(unit: unit.unit, attempt: unit.attempt) }
    package init(_ stop: WireStopUnit) { self.init(unit: stop.unit, attempt: stop.attempt) }
}

extension UnitKey: CustomStringConvertible {
    package var description: String { "\(unit)#\(attempt)" }
}
