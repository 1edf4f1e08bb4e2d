import Scheduling
import Wire

extension Principal {
    /// For logs and refusals.
    var title: String { "`\(name)` (\(roleNames.joined(separator: ", ")))" }

    /// Why it may not be what its hello says; nil: it may.
    func refusal(of hello: WireHello) -> String? {
        switch hello.role {
        case .executor where hello.executor.submitter, .client where !has(.observe):
            has(.submit) ? nil : "\(title) may not submit or ask; that takes the role `submit` or `observe`"
        case .executor, .supervisor: has(.work) ? nil : "\(title) may not work; that takes the role `work`"
        case .client, .unspecified, .UNRECOGNIZED: nil
        }
    }

    /// What it may ask of the scheduler.
    ///
    /// - Parameter asWorker: it reads what its operations receive, whosever that is, and asks nothing else.
    func authority(asWorker: Bool) -> Authority {
        Authority(
            principal: name, roles: roleNames, maySubmit: has(.submit) && !asWorker, mayObserve: has(.observe) || asWorker,
            mayAdminister: has(.admin) && !asWorker, operations: operations)
    }

    /// Takes away what a worker may not run; returns the names.
    func restrict(_ attachment: inout ExecutorAttachment) -> [String] {
        guard !operations.isEmpty else { return [] }
        let names = attachment.operations.map(\.name) + attachment.conditions
        attachment.operations.removeAll { !operations.contains($0.name) }
        attachment.conditions.removeAll { !operations.contains($0) }
        return names.filter { !operations.contains($0) }
    }

    /// A label that a worker may not have; nil: it may have all of them.
    func forbiddenLabel(of attachment: ExecutorAttachment) -> String? {
        labels.isEmpty ? nil : attachment.labels.first { !labels.contains($0) }
    }
}
