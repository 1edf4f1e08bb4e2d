import Shapes

/// What a check of `aop doctor` has found.
struct Finding: Hashable, Sendable {
    enum Status: String, Hashable, Sendable {
        case ok
        /// It works, and may not for long, or not as it is meant.
        case warning
        /// It does not work.
        case error
    }

    /// What was checked, in a word.
    enum Check: String, Hashable, Sendable, CaseIterable {
        case version, configuration, keys, cookie, coordinator, workers, clock, ports, data, temporary, limits, shell
    }

    var check: Check
    var status: Status
    var text: String
    /// What to do about it; nil: nothing, or the text says it.
    var remedy: String?

    init(_ check: Check, _ status: Status, _ text: String, remedy: String? = nil) {
        self.check = check
        self.status = status
        self.text = text
        self.remedy = remedy
    }

    /// An error as this project writes them: what happened; what to do.
    init(_ check: Check, _ status: Status = .error, of error: any Error) { self.init(check, status, message: "\(error)") }

    init(_ check: Check, _ status: Status = .error, message: String) {
        let end = message.firstRange(of: "; ")
        self.init(
            check, status, end.map { String(message[..<$0.lowerBound]) } ?? message, remedy: end.map { String(message[$0.upperBound...]) })
    }

    var members: [(String, JSONValue)] {
        [
            ("check", .string(check.rawValue)), ("status", .string(status.rawValue)), ("text", .string(text)),
            ("remedy", remedy.map { .string($0) } ?? .null),
        ]
    }
}

/// All that was found.
struct Diagnosis: Sendable {
    var findings: [Finding]

    func count(_ status: Finding.Status) -> Int { findings.count { $0.status == status } }

    /// Warnings are no reason to fail.
    var exitStatus: ExitStatus { count(.error) > 0 ? .toolError : .success }

    /// `2 errors, 1 warning`
    var summary: String {
        func counted(_ status: Finding.Status, _ word: String) -> String? {
            let count = count(status)
            return count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
        }
        let parts = [counted(.error, "error"), counted(.warning, "warning")].compactMap(\.self)
        return parts.isEmpty ? "nothing is wrong" : parts.joined(separator: ", ")
    }

    var json: JSONValue {
        .shape([
            ("errors", .integer(Int64(count(.error)))), ("warnings", .integer(Int64(count(.warning)))),
            ("findings", .array(findings.map { .object($0.members) })),
        ])
    }

    /// A line for each, and what to do below it.
    func text(_ style: Style) -> String {
        let statusWidth = Finding.Status.warning.rawValue.count
        let checkWidth = Finding.Check.allCases.map(\.rawValue.count).max() ?? 0
        let indent = String(repeating: " ", count: statusWidth + checkWidth + 4)
        return findings.map { finding in
            let status = DisplayWidth.pad(finding.status.rawValue, to: statusWidth)
            let coloured =
                switch finding.status {
                case .ok: style.green(status)
                case .warning: style.yellow(status)
                case .error: style.red(status)
                }
            let remedy = finding.remedy.map { "\(indent)→ \(PlainText.of($0))\n" } ?? ""
            return "\(coloured)  \(DisplayWidth.pad(finding.check.rawValue, to: checkWidth))  \(PlainText.of(finding.text))\n\(remedy)"
        }.joined()
    }
}
