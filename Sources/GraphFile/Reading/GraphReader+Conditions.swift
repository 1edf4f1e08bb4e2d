import Foundation
import Wire

/// Keys of one condition.
enum ConditionKey: String, CaseIterable {
    // What it is.
    case noFailedDependencies, noCancelledDependencies, timeWindow, rateLimit, reachable, fileExists, command, type, any, all
    // What belongs to one of these.
    case zone, wait, with
    // Any condition.
    case negated, silent, operation

    static let forms: [ConditionKey] = [
        .noFailedDependencies, .noCancelledDependencies, .timeWindow, .rateLimit, .reachable, .fileExists, .command, .type, .any, .all,
    ]
}

/// `conditions`: what must hold before an attempt starts.
extension GraphReader {
    typealias ConditionFields = [ConditionKey: (key: Int, value: Int)]

    mutating func readConditions(
        _ fields: [NodeKey: Field], into index: Int, scope: VariableScope, depth: Int, reportingAs node: Int
    ) {
        guard let field = fields[.conditions] else { return }
        guard case .sequence(let list) = document[field.value].content else {
            report(
                "`conditions` must be a list such as `[{noFailedDependencies: true}]`, found \(document.description(field.value))",
                value: field.value, node: node)
            return
        }
        if list.isEmpty { report("`conditions` names no condition", value: field.value, node: node) }
        if list.count > FileLimits.conditions {
            report(
                "`conditions` has \(list.count) entries; at most \(FileLimits.conditions) are possible", value: field.value, node: node)
            return
        }
        var inside = ConditionList(scope: scope, node: node)
        for value in list {
            guard let condition = readCondition(value, into: &inside, depth: 0, isSilent: false) else { continue }
            drafts[index].options.conditions.append(condition)
        }
        if inside.count > FileLimits.conditions || inside.size > FileLimits.conditionParts {
            report(
                "`conditions` has more than \(FileLimits.conditions) conditions in it, the most that are possible", value: field.value,
                node: node)
            drafts[index].options.conditions = []
            return
        }
        let operations = inside.operations
        guard !operations.isEmpty else { return }
        guard depth < FileLimits.nestingDepth else {
            report("nodes are nested more than \(FileLimits.nestingDepth) deep here", at: field.keyPosition, node: node)
            return
        }
        var group = OpenGroup(group: index, members: operations.map(\.value), scope: scope, depth: depth + 1)
        group.conditions = operations.map { ($0.position, $0.id) }
        open.append(group)
    }

    /// What was read of a node's `conditions`.
    fileprivate struct ConditionList {
        let scope: VariableScope
        let node: Int
        /// Those that are made of no others.
        var count = 0
        /// All that were looked at.
        var size = 0
        /// Their `operation`s, unless they are `silent`.
        var operations: [(value: Int, position: Int, id: String)] = []
    }

    /// nil: reported.
    private mutating func readCondition(
        _ value: Int, into list: inout ConditionList, depth: Int, isSilent: Bool
    ) -> WireCondition? {
        let (scope, node) = (list.scope, list.node)
        guard case .mapping(let entries) = document[value].content else {
            report(
                "a condition must be a map such as `{noFailedDependencies: true}`, found \(document.description(value))", value: value,
                node: node)
            return nil
        }
        var fields: ConditionFields = [:]
        var isComplete = true
        for (name, key, value) in readEntries(entries, node: node) {
            guard let known = ConditionKey(rawValue: name) else {
                let hint = hint(for: name) { _ in ConditionKey.allCases.map(\.rawValue) }
                report("unknown key \(quoted(name)) in a condition\(hint)", value: key, node: node)
                isComplete = false
                continue
            }
            fields[known] = (key, value)
        }
        guard isComplete else { return nil }
        let forms = ConditionKey.forms.filter { fields[$0] != nil }
        guard let form = forms.first, forms.count == 1 else {
            let names = ConditionKey.forms.map { "`\($0.rawValue)`" }
            report(
                forms.isEmpty
                    ? "a condition needs one of \(names.joined(separator: ", "))"
                    : "a condition has \(forms.map { "`\($0.rawValue)`" }.joined(separator: " and ")); write one condition for each",
                value: value, node: node)
            return nil
        }
        var condition = WireCondition()
        if let field = fields[.negated] { condition.negated = readFlag("negated", field.value, node: node) ?? false }
        let isSilent = (fields[.silent].flatMap { readFlag("silent", $0.value, node: node) } ?? false) || isSilent
        if form == .any || form == .all {
            guard let composed = readComposed(form, fields, into: &list, depth: depth, isSilent: isSilent) else { return nil }
            condition.composed = composed
            return condition
        }
        condition.kind = readForm(form, fields, scope: scope, node: node)
        guard condition.kind != nil else { return nil }
        if !isSilent, let operation = fields[.operation]?.value {
            list.operations.append((operation, list.count, "?\(condition.key).\(list.count)"))
        }
        list.count += 1
        return condition
    }

    /// `any` or `all` of others. nil: reported.
    private mutating func readComposed(
        _ form: ConditionKey, _ fields: ConditionFields, into list: inout ConditionList, depth: Int, isSilent: Bool
    ) -> WireComposedCondition? {
        guard let value = fields[form]?.value else { return nil }
        let node = list.node
        for key in [ConditionKey.zone, .wait, .with, .operation] {
            guard let field = fields[key] else { continue }
            report(
                "`\(key.rawValue)` belongs to a condition inside of `\(form.rawValue)`; write it there", value: field.key, node: node)
        }
        guard case .sequence(let parts) = document[value].content else {
            report(
                "`\(form.rawValue)` must be a list of conditions such as `[{noFailedDependencies: true}]`,"
                    + " found \(document.description(value))", value: value, node: node)
            return nil
        }
        if parts.isEmpty { report("`\(form.rawValue)` names no condition", value: value, node: node) }
        guard depth < FileLimits.conditionDepth else {
            report("conditions are nested more than \(FileLimits.conditionDepth) deep here", value: value, node: node)
            return nil
        }
        var composed = WireComposedCondition()
        composed.form = form == .any ? .any : .all
        var isComplete = !parts.isEmpty
        for part in parts {
            // Aliases can say much with few words.
            list.size += 1
            guard list.count <= FileLimits.conditions, list.size <= FileLimits.conditionParts else { return nil }
            if let condition = readCondition(part, into: &list, depth: depth + 1, isSilent: isSilent) {
                composed.parts.append(condition)
            } else {
                isComplete = false
            }
        }
        return isComplete ? composed : nil
    }

    /// What the condition is. nil: reported.
    private mutating func readForm(
        _ form: ConditionKey, _ fields: ConditionFields, scope: VariableScope, node: Int
    ) -> WireCondition.OneOf_Kind? {
        guard let value = fields[form]?.value else { return nil }
        if form != .timeWindow, let zone = fields[.zone] {
            report("`zone` belongs to `timeWindow`, and there is none in this condition", value: zone.key, node: node)
        }
        if let wait = fields[.wait], ![.reachable, .fileExists, .command].contains(form) {
            report("`wait` belongs to `reachable`, `fileExists` and `command`, and this is `\(form.rawValue)`", value: wait.key, node: node)
        }
        if form != .type, let with = fields[.with] {
            report("`with` belongs to `type`, and this is `\(form.rawValue)`", value: with.key, node: node)
        }
        switch form {
        case .noFailedDependencies:
            return readTrue(form, value, node: node) ? .noFailedDependencies(WireNoFailedDependencies()) : nil
        case .noCancelledDependencies:
            return readTrue(form, value, node: node) ? .noCancelledDependencies(WireNoCancelledDependencies()) : nil
        case .timeWindow: return readTimeWindow(value, zone: fields[.zone]?.value, scope: scope, node: node).map { .timeWindow($0) }
        case .rateLimit: return readRateLimit(value, scope: scope, node: node).map { .rateLimit($0) }
        case .reachable, .fileExists, .command, .type: return readProbe(form, value, fields, scope: scope, node: node).map { .probe($0) }
        case .any, .all, .zone, .wait, .with, .negated, .silent, .operation: return nil
        }
    }

    private mutating func readTrue(_ form: ConditionKey, _ value: Int, node: Int) -> Bool {
        guard document.scalar(value)?.value != .bool(true) else { return true }
        report(
            "`\(form.rawValue)` must be `true`, found \(document.description(value)); the opposite has `negated: true` beside it",
            value: value, node: node)
        return false
    }

    mutating func readFlag(_ name: String, _ value: Int, node: Int) -> Bool? {
        if case .bool(let flag)? = document.scalar(value)?.value { return flag }
        report("`\(name)` must be `true` or `false`, found \(document.description(value))", value: value, node: node)
        return nil
    }

    private mutating func readTimeWindow(_ value: Int, zone: Int?, scope: VariableScope, node: Int) -> WireTimeWindow? {
        guard let text = readFixedText(value, as: "`timeWindow`", scope: scope, node: node) else { return nil }
        var window = WireTimeWindow()
        switch TimeOfDayText.readWindow(text) {
        case .success(let minutes):
            window.startMinute = UInt32(minutes.start)
            window.endMinute = UInt32(minutes.end)
        case .failure(let complaint):
            report("`timeWindow`: \(complaint.message)", value: value, node: node)
            return nil
        }
        guard let zone else { return window }
        guard let name = readFixedText(zone, as: "`zone`", scope: scope, node: node) else { return nil }
        guard TimeZone(identifier: name) != nil else {
            let hint = hint(for: name) { _ in TimeZone.knownTimeZoneIdentifiers }
            report(
                "unknown time zone \(quoted(name))" + (hint.isEmpty ? "; write an IANA name such as `Europe/Berlin`" : hint), value: zone,
                node: node)
            return nil
        }
        window.zone = ["UTC", "GMT"].contains(name) ? "" : name
        return window
    }

    private mutating func readRateLimit(_ value: Int, scope: VariableScope, node: Int) -> WireRateLimit? {
        guard case .mapping(let entries) = document[value].content else {
            report(
                "`rateLimit` must be a map such as `{key: api, count: 10, per: 1s}`, found \(document.description(value))", value: value,
                node: node)
            return nil
        }
        var limit = WireRateLimit()
        var given: Set<String> = []
        var isComplete = true
        for (name, key, value) in readEntries(entries, node: node) {
            given.insert(name)
            switch name {
            case "key":
                limit.key = readFixedText(value, as: "`key` of `rateLimit`", scope: scope, node: node) ?? ""
                if limit.key.isEmpty { isComplete = false }
                if limit.key.utf8.count > FileLimits.exclusiveKeyBytes {
                    report("`key` of `rateLimit` must have at most \(FileLimits.exclusiveKeyBytes) bytes", value: value, node: node)
                }
            case "count":
                guard case .number(let text)? = document.scalar(value)?.value, let count = Int(text),
                    (1...FileLimits.rateCount).contains(count)
                else {
                    report(
                        "`count` must be a whole number from 1 to \(FileLimits.rateCount), found \(document.description(value))",
                        value: value, node: node)
                    isComplete = false
                    continue
                }
                limit.count = UInt32(count)
            case "per":
                limit.perMilliseconds = UInt64(readRatePeriod(value, node: node) ?? 0)
                if limit.perMilliseconds == 0 { isComplete = false }
            default:
                let hint = hint(for: name) { _ in ["key", "count", "per"] }
                report("unknown key \(quoted(name)) in `rateLimit`\(hint)", value: key, node: node)
                isComplete = false
            }
        }
        for name in ["key", "count", "per"] where !given.contains(name) {
            report("`rateLimit` needs `\(name)`, as in `{key: api, count: 10, per: 1s}`", value: value, node: node)
            isComplete = false
        }
        return isComplete ? limit : nil
    }

    private mutating func readRatePeriod(_ value: Int, node: Int) -> Int64? {
        guard let text = document.scalar(value)?.text else {
            report("`per` must be a duration such as `1s`, found \(document.description(value))", value: value, node: node)
            return nil
        }
        switch DurationText.read(text) {
        case .success(0): report("`per` must be longer than 0", value: value, node: node)
        case .success(let milliseconds): return milliseconds
        case .failure(let complaint): report("`per`: \(complaint.message)", value: value, node: node)
        }
        return nil
    }

    /// A text with the variables of the file in it, not empty. The coordinator reads it, and knows no elements of a forEach.
    private mutating func readFixedText(_ value: Int, as what: String, scope: VariableScope, node: Int) -> String? {
        guard let text = readText(value, as: what, node: node) else { return nil }
        for case .variable(let name, _) in Template.pieces(of: text) ?? [] where scope.isBinding(name) {
            report(
                "\(what): \(quoted("${\(name)}")) cannot be used here; it must be the same for all elements of a forEach", value: value,
                node: node)
            return nil
        }
        guard let rendered = readTemplate(text, scope: scope, isFixed: true, value: value, node: node) else { return nil }
        if rendered.isEmpty { report("\(what) is empty", value: value, node: node) }
        return rendered.isEmpty ? nil : rendered
    }
}

extension WireCondition {
    /// What it is called in the path of its dependent operation.
    fileprivate var key: String {
        switch kind {
        case .noFailedDependencies: "NoFailedDependencies"
        case .noCancelledDependencies: "NoCancelledDependencies"
        case .timeWindow: "TimeWindow"
        case .rateLimit: "RateLimit"
        case .probe(let probe):
            switch probe.type {
            case "reachable": "Reachable"
            case "fileExists": "FileExists"
            case "command": "Command"
            // A `/` separates the parts of a path.
            default: String(probe.type.map { $0 == "/" ? "-" : $0 })
            }
        case .composed, nil: "Condition"
        }
    }
}

/// `22:00-06:00`
enum TimeOfDayText {
    /// Minutes after midnight; or what is wrong with the text.
    static func readWindow(_ text: String) -> Result<(start: Int, end: Int), Complaint> {
        let bad = Complaint("bad time window \(quoted(text)); write it as `22:00-06:00`")
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = minutes(parts[0]), let end = minutes(parts[1]), start < 1_440, end <= 1_440 else {
            return .failure(bad)
        }
        guard start != end % 1_440 else {
            return .failure(Complaint("the time window \(quoted(text)) ends when it starts; leave it out, or give it another end"))
        }
        return .success((start, end == 0 ? 1_440 : end))
    }

    private static func minutes(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ":") }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60
        else { return nil }
        return hour * 60 + minute
    }
}
