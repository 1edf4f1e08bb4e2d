import ArgumentParser

/// `ID` or `ID/PATH` as users write it: a submission, or an operation or group within it.
struct OperationReference: ExpressibleByArgument, Sendable, Hashable {
    var submission: String
    /// As the coordinator writes it: what a shell's completion adds (`group/`) is not in it. Empty: the whole submission.
    var path: String

    init?(argument: String) {
        guard let slash = argument.firstIndex(of: "/") else {
            submission = argument
            path = ""
            if argument.isEmpty { return nil }
            return
        }
        submission = String(argument[..<slash])
        path = argument[slash...].split(separator: "/").joined(separator: "/")
        if submission.isEmpty { return nil }
    }
}
