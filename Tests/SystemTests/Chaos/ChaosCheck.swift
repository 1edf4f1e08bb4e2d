import AOperation
import Foundation

/// Judges what bodies wrote, and what was acknowledged, against what is promised. Each violation is a line.
struct ChaosCheck {
    let history: ChaosHistory
    let acknowledged: ChaosLoad.Acknowledgements

    /// Every operation has ended, with success, and that was told once; its value is of the execution that began last.
    func ends(isLastBegun: (ChaosHistory.Execution, [ChaosHistory.Execution]) -> Bool = { $0.stamp == $1.last?.stamp }) -> [String] {
        var violations = history.brokenLines.map { "a line of the log is broken: \($0)" }
        for plan in acknowledged.plans {
            let told = acknowledged.ends[plan.name] ?? []
            guard told.count == 1 else {
                violations.append("\(plan.name): its end was told \(told.count) times: \(told)")
                continue
            }
            guard case .success(let value) = told[0] else {
                violations.append("\(plan.name): \(told[0])")
                continue
            }
            let stamp = Self.stamp(in: value, of: plan.name)
            guard let execution = stamp.flatMap({ history.execution($0) }), execution.name == plan.name else {
                violations.append("\(plan.name): its value \(value) is of no execution of it")
                continue
            }
            if execution.end != .done { violations.append("\(plan.name): its value is of an execution that has not ended") }
            let all = history.executions(of: plan.name)
            if !isLastBegun(execution, all) {
                violations.append("\(plan.name): its value is of \(execution.stamp), and it began as \(all.map(\.stamp))")
            }
            violations += received(in: value, of: plan.name)
        }
        return violations
    }

    /// What a receiver has got is what was told of its producer.
    private func received(in value: String, of name: String) -> [String] {
        guard let sign = value.firstIndex(of: "<") else { return [] }
        let received = String(value[value.index(after: sign)...])
        let producer = String(received.prefix { $0 != "=" })
        guard case .success(let told)? = acknowledged.ends[producer]?.first, told == received else {
            return ["\(name): it received \(received), and of \(producer) was told \(acknowledged.ends[producer] ?? [])"]
        }
        return []
    }

    private static func stamp(in value: String, of name: String) -> String? {
        guard value.hasPrefix("\(name)=") else { return nil }
        return String(value.dropFirst(name.utf8.count + 1).prefix { $0 != "<" })
    }

    /// Nothing was executed more often than its failures ask for.
    func repetitions() -> [String] {
        acknowledged.plans.compactMap { plan in
            let executions = history.executions(of: plan.name)
            guard executions.count != plan.failures + 1 else { return nil }
            return "\(plan.name): executed \(executions.count) times, and fails \(plan.failures) times: \(executions)"
        }
    }

    /// Nothing was executed again but what had failed, or ran where somebody was lost.
    func repetitions(but isLost: (ChaosHistory.Execution) -> Bool) -> [String] {
        acknowledged.plans.flatMap { plan in
            history.executions(of: plan.name).dropLast().filter { $0.end != .failed && !isLost($0) }.map {
                "\(plan.name): \($0.stamp) had not failed, and nobody was lost where it ran; it was executed again"
            }
        }
    }

    /// Nobody was inside under a key beside somebody else.
    func overlaps(but isExcused: (ChaosHistory.Execution) -> Bool = { _ in false }) -> [String] {
        history.executions.filter { !$0.isAlone && !isExcused($0) }.map { "\($0.name): began under \($0.key ?? "") beside another one" }
    }

    /// What was told is there, and is the same.
    func losses(_ now: (submissions: [String: String], values: [String: String])) -> [String] {
        var violations: [String] = []
        for (key, id) in acknowledged.submissions where now.submissions[key] != id {
            violations.append("\(key) was acknowledged as \(id), and is \(now.submissions[key] ?? "not there")")
        }
        for (name, told) in acknowledged.ends {
            guard case .success(let value)? = told.first, now.values[name] != value else { continue }
            violations.append("\(name): \(value) was told, and it is \(now.values[name] ?? "nothing") now")
        }
        return violations
    }
}

/// Times of one kind, for people.
struct ChaosTimes {
    private(set) var milliseconds: [Double] = []
    /// Those during which something else was killed.
    private var hitAgain: [Double] = []
    private var undisturbed: [Double] = []

    mutating func add(from begin: UInt64, to end: UInt64, isHitAgain: Bool = false) {
        milliseconds.append(Double(end - begin) / 1e6)
        if isHitAgain { hitAgain.append(Double(end - begin) / 1e6) } else { undisturbed.append(Double(end - begin) / 1e6) }
    }

    /// One took so long that no neighbour on the machine explains it; or, in the long form, which has the machine to itself, half of those
    /// that nothing else has hit took longer than they are meant to.
    func violations(_ title: String, aim: Double, _ scale: ChaosScale) -> [String] {
        var violations: [String] = []
        if hitAgain.isEmpty, let longest = milliseconds.max(), longest > aim + scale.slackMilliseconds {
            violations.append("\(title) \(Int(longest)) ms, and had \(Int(aim + scale.slackMilliseconds)) ms")
        }
        let alone = undisturbed.sorted()
        if ChaosScale.isLong, alone.count > 2, alone[alone.count / 2] > aim {
            violations.append("\(title) \(Int(alone[alone.count / 2])) ms in the median, and is meant to within \(Int(aim)) ms")
        }
        return violations
    }

    /// - Parameter aim: milliseconds within which it is meant to be.
    func text(_ title: String, aim: Double) -> String {
        let sorted = milliseconds.sorted()
        guard !sorted.isEmpty else { return "\(title): none" }
        func at(_ share: Double) -> String { String(format: "%.0f", sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) }
        let (later, laterAndHit) = (sorted.count { $0 > aim }, hitAgain.count { $0 > aim })
        let kills = laterAndHit == 0 ? "" : ", \(laterAndHit) of them with another kill meanwhile"
        return "\(title): \(sorted.count), median \(at(0.5)) ms, 95 % within \(at(0.95)) ms, longest \(at(1)) ms; "
            + "\(later) later than \(String(format: "%.0f", aim)) ms\(kills)"
    }
}
