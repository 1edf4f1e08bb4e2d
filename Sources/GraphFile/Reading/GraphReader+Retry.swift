import Wire

/// `retry`: a number, or a map of `attempts`, `backoff`, `on` and `scope`.
extension GraphReader {
    mutating func readRetry(_ field: Field, into index: Int, reportingAs node: Int) {
        guard case .mapping(let entries) = document[field.value].content else {
            drafts[index].retries = readCount(field, upTo: FileLimits.retries, node: node) ?? 0
            return
        }
        let parts = readParts(entries, of: "retry", known: ["attempts", "backoff", "on", "scope"], node: node)
        if let attempts = parts["attempts"] {
            let count = readCount(attempts, as: "attempts", upTo: FileLimits.retries, node: node)
            if count == 0 { report("`attempts` must be at least 1; without `retry` there is one attempt", value: attempts, node: node) }
            drafts[index].retries = count ?? 0
        } else if !entries.contains(where: { document.scalar($0.key)?.text == "attempts" }) {
            report("`retry` needs `attempts`, the number of attempts after the first", value: field.value, node: node)
        }
        if let backoff = parts["backoff"] { drafts[index].options.backoff = readBackoff(backoff, node: node) }
        if let reasons = parts["on"] { drafts[index].options.retryOn = readReasons(reasons, node: node) }
        if let scope = parts["scope"] { drafts[index].options.retriesNet = readScope(scope, node: node) }
    }

    /// Whether what has failed above the node in its delivery net is tried again with it.
    private mutating func readScope(_ value: Int, node: Int) -> Bool {
        switch document.scalar(value)?.text {
        case "net": return true
        case "node": return false
        default:
            report("`scope` must be one of `node`, `net`, found \(document.description(value))", value: value, node: node)
            return false
        }
    }

    /// The values of a map with keys of its own.
    private mutating func readParts(_ entries: [SourceEntry], of map: String, known: [String], node: Int) -> [String: Int] {
        var parts: [String: Int] = [:]
        for (name, key, value) in readEntries(entries, node: node) {
            if !known.contains(name) {
                let hint = hint(for: name) { _ in known }
                report("unknown key \(quoted(name)) in `\(map)`\(hint)", value: key, node: node)
            } else if document.scalar(value)?.value == .null {
                report("`\(name)` has no value", value: value, node: node)
            } else {
                parts[name] = value
            }
        }
        return parts
    }

    private mutating func readBackoff(_ value: Int, node: Int) -> BackoffDraft? {
        guard case .mapping(let entries) = document[value].content else {
            report(
                "`backoff` must be a map such as `{kind: linear, initial: 2s}`, found \(document.description(value))", value: value,
                node: node)
            return nil
        }
        let parts = readParts(entries, of: "backoff", known: ["kind", "initial", "max", "factor", "jitter"], node: node)
        var backoff = BackoffDraft()
        if let kind = parts["kind"] {
            let words = BackoffDraft.Kind.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            if let known = document.scalar(kind).flatMap({ BackoffDraft.Kind(rawValue: $0.text) }) {
                backoff.kind = known
            } else {
                report("`kind` must be one of \(words), found \(document.description(kind))", value: kind, node: node)
            }
        }
        let example = "a duration such as `90s`"
        if let initial = parts["initial"] {
            backoff.initialMilliseconds = readQuantity(initial, as: "initial", example: example, node: node, DurationText.read) ?? 0
        }
        if let longest = parts["max"] {
            backoff.maxMilliseconds = readQuantity(longest, as: "max", example: example, node: node, DurationText.read)
            if let milliseconds = backoff.maxMilliseconds, milliseconds < backoff.initialMilliseconds {
                report("`max` is shorter than `initial`\(parts["initial"] == nil ? ", which is 1s" : "")", value: longest, node: node)
            }
        }
        if let jitter = parts["jitter"] {
            backoff.jitterPermille =
                readQuantity(jitter, as: "jitter", example: "a number from 0 to 1", node: node) { Self.permille($0, 0...1) } ?? 0
        }
        if let factor = parts["factor"] {
            backoff.factorPermille =
                readQuantity(factor, as: "factor", example: "a number from 1 to 1000", node: node) { Self.permille($0, 1...1_000) }
            if backoff.kind != .exponential { report("`factor` is for the kind `exponential` alone", value: factor, node: node) }
        }
        return backoff
    }

    private static func permille(_ text: String, _ range: ClosedRange<Int>) -> Result<Int, Complaint> {
        var rest = Substring(text).utf8
        guard let quantity = Quantity.take(from: &rest), rest.isEmpty, let permille = quantity.times(1_000),
            (range.lowerBound * 1_000...range.upperBound * 1_000).contains(Int(permille))
        else {
            return .failure(
                Complaint(
                    "must be a number from \(range.lowerBound) to \(range.upperBound) with at most three decimals, found \(quoted(text))"))
        }
        return .success(Int(permille))
    }

    private mutating func readReasons(_ value: Int, node: Int) -> [RetryReasonDraft] {
        guard case .sequence(let values) = document[value].content else {
            report("`on` must be a list such as `[75, timeout, SIGKILL]`, found \(document.description(value))", value: value, node: node)
            return []
        }
        if values.isEmpty { report("`on` is empty; leave it out to try again whatever failed", value: value, node: node) }
        if values.count > FileLimits.retryReasons {
            report("`on` has \(values.count) entries; at most \(FileLimits.retryReasons) are possible", value: value, node: node)
            return []
        }
        return values.compactMap { readReason($0, node: node) }
    }

    private mutating func readReason(_ value: Int, node: Int) -> RetryReasonDraft? {
        guard let scalar = document.scalar(value), !scalar.text.isEmpty else {
            report("`on` must hold exit codes and names of errors, found \(document.description(value)) in it", value: value, node: node)
            return nil
        }
        guard case .number(let text) = scalar.value else {
            guard scalar.text.utf8.count <= FileLimits.identifierBytes else {
                report("a name in `on` has more than \(FileLimits.identifierBytes) bytes", value: value, node: node)
                return nil
            }
            return readName(scalar.text, value: value, node: node)
        }
        guard let code = Int32(text), (1...255).contains(code) else {
            report("\(quoted(text)) in `on` is no exit code of a failure; those are from 1 to 255", value: value, node: node)
            return nil
        }
        return .exitCode(code)
    }

    /// Codes of failures and types of errors can be told apart: only types begin with a capital.
    private mutating func readName(_ name: String, value: Int, node: Int) -> RetryReasonDraft? {
        if name.hasPrefix("SIG") {
            if let number = SignalNames.numbers[name] { return .signal(number) }
            let hint = hint(for: name) { _ in SignalNames.numbers.keys.sorted() }
            report("`on`: unknown signal \(quoted(name))\(hint)", value: value, node: node)
            return nil
        }
        let codes = WireFailureCode.allCases.map(\.word)
        if name.first?.isUppercase == true || codes.contains(name) { return .error(name) }
        let hint = hint(for: name) { _ in codes }
        report(
            "`on`: unknown failure \(quoted(name))\(hint.isEmpty ? "; name an exit code, a signal, a failure's code such as `timeout`, or the type of an error" : hint)",
            value: value, node: node)
        return nil
    }
}
