import Foundation
import Scheduling
import Wire

extension Assignment {
    /// - Parameters:
    ///   - inputs: as they travel: large ones were stored before.
    ///   - defaultGraceMilliseconds`: for an operation that does not name its own.
    func wire(inputs: [WireReceived], defaultGraceMilliseconds: Int64) -> WireAssignment {
        var wire = WireAssignment()
        wire.unit = unit.rawValue
        wire.attempt = attempt.rawValue
        switch kind {
        case .execute: wire.kind = .execute
        case .decide: wire.kind = .decide
        case .evaluate: wire.kind = .evaluate
        case .conclude: wire.kind = .conclude
        }
        wire.submission = submission
        wire.path = path
        wire.attemptNumber = UInt32(clamping: attemptNumber)
        wire.operation = operation
        wire.version = UInt32(clamping: version)
        wire.parameters = Data(parameters)
        wire.templated = isTemplated
        wire.described = isDescribed
        wire.bindings = bindings.map(\.wire)
        wire.inputs = inputs
        wire.receivesArray = receivesArray
        wire.timeoutMilliseconds = UInt32(clamping: timeoutMilliseconds)
        wire.graceMilliseconds = UInt32(clamping: graceMilliseconds ?? defaultGraceMilliseconds)
        wire.fences = fences.map(\.wire)
        wire.atMostOnce = isAtMostOnce
        wire.priority = Int32(clamping: priority)
        wire.hosted = isHosted
        wire.conditions = questions.map(\.wire)
        wire.resources = resources.map(\.wire)
        if let stream {
            wire.stream.path = stream.path
            wire.stream.attemptNumber = UInt32(clamping: stream.attemptNumber)
        }
        if let link {
            wire.link.unit = link.unit.rawValue
            wire.link.attempt = link.attempt.rawValue
            wire.link.delivers = link.delivers
        }
        if let decision { wire.decision = decision.wire }
        if let conclusion { wire.conclusion = conclusion.wire }
        if !trace.isEmpty { wire.trace = trace.byName }
        return wire
    }

    /// About how many bytes it takes within a message, without its inputs.
    var wireBytes: Int {
        96 + (stream.map { $0.path.utf8.count + 16 } ?? 0) + submission.utf8.count + path.utf8.count + operation.utf8.count
            + parameters.count
            + bindings.reduce(0) { $0 + $1.name.utf8.count + $1.element.count + 16 }
            + fences.reduce(0) { $0 + $1.key.utf8.count + 16 }
            + resources.reduce(0) { $0 + $1.name.utf8.count + 2 * $1.indices.count + 16 }
            + questions.reduce(0) { $0 + $1.wireBytes } + (decision?.wireBytes ?? 0)
            + (conclusion?.wireBytes ?? 0)
            + trace.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 }
    }
}

extension Fence {
    fileprivate var wire: WireFence {
        var wire = WireFence()
        wire.key = key
        wire.token = token
        return wire
    }
}

extension Binding {
    fileprivate var wire: WireBinding {
        var wire = WireBinding()
        wire.name = name
        wire.index = UInt32(clamping: index)
        wire.element = Data(element)
        return wire
    }
}

extension StopOrder {
    var wire: WireStopUnit {
        var wire = WireStopUnit()
        wire.unit = unit.rawValue
        wire.attempt = attempt.rawValue
        switch reason {
        case .cancelled: wire.reason = .cancelled
        case .timeout: wire.reason = .timeout
        case .superseded: wire.reason = .superseded
        case .recalled: wire.reason = .recalled
        }
        wire.now = now
        return wire
    }
}

extension AttemptName {
    var wire: WireAcknowledgedUnit {
        var wire = WireAcknowledgedUnit()
        wire.unit = unit.rawValue
        wire.attempt = attempt.rawValue
        return wire
    }
}
