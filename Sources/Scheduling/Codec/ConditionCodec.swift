private enum ConditionKind {
    static let noFailedDependencies: UInt8 = 1
    static let noCancelledDependencies: UInt8 = 2
    static let timeWindow: UInt8 = 3
    static let rateLimit: UInt8 = 4
    static let probe: UInt8 = 5
    static let hostedProbe: UInt8 = 140
}

private enum TreeKind {
    static let leaf: UInt8 = 0
    static let all: UInt8 = 1
    static let any: UInt8 = 2
    static let not: UInt8 = 3
    static let ignored: UInt8 = 4
}

private enum FindingKind {
    static let satisfied: UInt8 = 0
    static let failed: UInt8 = 1
    static let notNow: UInt8 = 2
    /// Failed with an error that has an image.
    static let failedWithImage: UInt8 = 3
    static let ignored: UInt8 = 200
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

    mutating func write(tree: ConditionTree) {
        switch tree {
        case .leaf(let position):
            write(TreeKind.leaf)
            write(count: position)
        case .all(let parts):
            write(TreeKind.all)
            write(list: parts) { $0.write(tree: $1) }
        case .any(let parts):
            write(TreeKind.any)
            write(list: parts) { $0.write(tree: $1) }
        case .not(let part):
            write(TreeKind.not)
            write(tree: part)
        case .ignored(let part):
            write(TreeKind.ignored)
            write(tree: part)
        }
    }

    mutating func write(verdicts: [Verdict]) {
        write(list: verdicts) { writer, verdict in
            writer.write(count: verdict.condition)
            switch verdict.finding {
            case .satisfied: writer.write(FindingKind.satisfied)
            case .failed where verdict.image.isEmpty: writer.write(FindingKind.failed)
            case .failed:
                writer.write(FindingKind.failedWithImage)
                writer.write(verdict.image)
            case .ignored: writer.write(FindingKind.ignored)
            case .notNow(let until):
                writer.write(FindingKind.notNow)
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
            case .satisfied: writer.write(FindingKind.satisfied)
            case .failed where answer.image.isEmpty: writer.write(FindingKind.failed)
            case .failed:
                writer.write(FindingKind.failedWithImage)
                writer.write(answer.image)
            case .ignored: writer.write(FindingKind.ignored)
            case .retryAfter(let milliseconds):
                writer.write(FindingKind.notNow)
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

    mutating func conditionTree() throws(DecodingFailure) -> ConditionTree {
        switch try byte() {
        case TreeKind.leaf: return .leaf(try index())
        case TreeKind.all: return .all(try list { reader throws(DecodingFailure) in try reader.conditionTree() })
        case TreeKind.any: return .any(try list { reader throws(DecodingFailure) in try reader.conditionTree() })
        case TreeKind.not: return .not(try conditionTree())
        case TreeKind.ignored: return .ignored(try conditionTree())
        case let other: throw DecodingFailure("\(other) is nothing that conditions are made into")
        }
    }

    mutating func verdicts() throws(DecodingFailure) -> [Verdict] {
        try list { reader throws(DecodingFailure) in
            let condition = try reader.index()
            let finding: Verdict.Finding
            var image: [UInt8] = []
            switch try reader.byte() {
            case FindingKind.satisfied: finding = .satisfied
            case FindingKind.failed: finding = .failed
            case FindingKind.failedWithImage:
                finding = .failed
                image = try reader.content()
            case FindingKind.ignored: finding = .ignored
            case FindingKind.notNow: finding = .notNow(until: try reader.signed())
            case let other: throw DecodingFailure("\(other) is nothing that a condition says")
            }
            return Verdict(
                condition: condition, finding: finding, reason: try reader.text(), evaluator: try reader.text(),
                at: try reader.signed(), image: image)
        }
    }

    mutating func answers() throws(DecodingFailure) -> [ConditionAnswer] {
        try list { reader throws(DecodingFailure) in
            let condition = try reader.index()
            let finding: ConditionAnswer.Finding
            var image: [UInt8] = []
            switch try reader.byte() {
            case FindingKind.satisfied: finding = .satisfied
            case FindingKind.failed: finding = .failed
            case FindingKind.failedWithImage:
                finding = .failed
                image = try reader.content()
            case FindingKind.ignored: finding = .ignored
            case FindingKind.notNow: finding = .retryAfter(milliseconds: try reader.signed())
            case let other: throw DecodingFailure("\(other) is no answer to a condition")
            }
            return ConditionAnswer(condition: condition, finding: finding, reason: try reader.text(), image: image)
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
