private enum ConditionKind {
    static let noFailedDependencies: UInt8 = 1
    static let noCancelledDependencies: UInt8 = 2
    static let timeWindow: UInt8 = 3
    static let rateLimit: UInt8 = 4
    static let probe: UInt8 = 5
    static let hostedProbe: UInt8 = 140
}

extension ByteWriter {
    mutating func write(conditions: [Condition]) {
        write(list: conditions) { writer, condition in
            switch condition.kind {
            case .noFailedDependencies: writer.write(ConditionKind.noFailedDependencies)
            case .noCancelledDependencies: writer.write(ConditionKind.noCancelledDependencies)
            case .timeWindow(let window):
                writer.write(ConditionKind.timeWindow)
                writer.write(count: window.startMinute)
                writer.write(count: window.endMinute)
                writer.write(window.zone)
            case .rateLimit(let limit):
                writer.write(ConditionKind.rateLimit)
                writer.write(limit.key)
                writer.write(count: limit.count)
                writer.write(limit.perMilliseconds)
            case .probe(let probe):
                writer.write(probe.isHosted ? ConditionKind.hostedProbe : ConditionKind.probe)
                writer.write(probe.type)
                writer.write(count: probe.parameters)
                writer.write(probe.isTemplated)
                writer.write(probe.waits)
            }
            writer.write(condition.isNegated)
        }
    }

    mutating func write(verdicts: [Verdict]) {
        write(list: verdicts) { writer, verdict in
            writer.write(count: verdict.condition)
            switch verdict.finding {
            case .satisfied: writer.write(UInt8(0))
            case .failed: writer.write(UInt8(1))
            case .notNow(let until):
                writer.write(UInt8(2))
                writer.write(until)
            }
            writer.write(verdict.reason)
            writer.write(verdict.evaluator)
            writer.write(verdict.at)
        }
    }

    mutating func write(answers: [ConditionAnswer]) {
        write(list: answers) { writer, answer in
            writer.write(count: answer.condition)
            switch answer.finding {
            case .satisfied: writer.write(UInt8(0))
            case .failed: writer.write(UInt8(1))
            case .retryAfter(let milliseconds):
                writer.write(UInt8(2))
                writer.write(milliseconds)
            }
            writer.write(answer.reason)
        }
    }

    mutating func write(zones: [ZoneTable]) {
        write(list: zones) { writer, zone in
            writer.write(zone.name)
            writer.write(Int64(zone.offsetSeconds))
            writer.write(list: zone.transitions) { writer, transition in
                writer.write(transition.at)
                writer.write(Int64(transition.offsetSeconds))
            }
        }
    }
}

extension ByteReader {
    mutating func conditions() throws(DecodingFailure) -> [Condition] {
        try list { reader throws(DecodingFailure) in
            let kind: Condition.Kind
            let tag = try reader.byte()
            switch tag {
            case ConditionKind.noFailedDependencies: kind = .noFailedDependencies
            case ConditionKind.noCancelledDependencies: kind = .noCancelledDependencies
            case ConditionKind.timeWindow:
                kind = .timeWindow(
                    TimeWindow(startMinute: try reader.index(), endMinute: try reader.index(), zone: try reader.text()))
            case ConditionKind.rateLimit:
                kind = .rateLimit(
                    RateLimit(key: try reader.text(), count: try reader.index(), perMilliseconds: try reader.signed()))
            case ConditionKind.probe, ConditionKind.hostedProbe:
                kind = .probe(
                    Probe(
                        type: try reader.text(), parameters: try reader.index(), isTemplated: try reader.flag(),
                        waits: try reader.flag(), isHosted: tag == ConditionKind.hostedProbe))
            case let other: throw DecodingFailure("\(other) is no kind of condition that this version knows")
            }
            return Condition(kind, isNegated: try reader.flag())
        }
    }

    mutating func verdicts() throws(DecodingFailure) -> [Verdict] {
        try list { reader throws(DecodingFailure) in
            let condition = try reader.index()
            let finding: Verdict.Finding
            switch try reader.byte() {
            case 0: finding = .satisfied
            case 1: finding = .failed
            case 2: finding = .notNow(until: try reader.signed())
            case let other: throw DecodingFailure("\(other) is nothing that a condition says")
            }
            return Verdict(
                condition: condition, finding: finding, reason: try reader.text(), evaluator: try reader.text(),
                at: try reader.signed())
        }
    }

    mutating func answers() throws(DecodingFailure) -> [ConditionAnswer] {
        try list { reader throws(DecodingFailure) in
            let condition = try reader.index()
            let finding: ConditionAnswer.Finding
            switch try reader.byte() {
            case 0: finding = .satisfied
            case 1: finding = .failed
            case 2: finding = .retryAfter(milliseconds: try reader.signed())
            case let other: throw DecodingFailure("\(other) is no answer to a condition")
            }
            return ConditionAnswer(condition: condition, finding: finding, reason: try reader.text())
        }
    }

    mutating func zones() throws(DecodingFailure) -> [ZoneTable] {
        try list { reader throws(DecodingFailure) in
            ZoneTable(
                name: try reader.text(), offsetSeconds: Int(try reader.signed32()),
                transitions: try reader.list { reader throws(DecodingFailure) in
                    ZoneTable.Transition(at: try reader.signed(), offsetSeconds: Int(try reader.signed32()))
                })
        }
    }
}
