import Foundation
import Wire

/// The environments of commands: what all of one worker share, and how one command's is put together.
struct CommandEnvironment: Sendable {
    /// Present in every command's environment when the worker has them.
    static let standardNames = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"]
    /// For workers that were started without one.
    static let defaults = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "TMPDIR": "/tmp"]

    /// What every command gets.
    let shared: [String: String]
    /// The ``WorkerMark`` of every command; nil: this process is part of no worker.
    private let mark: String?

    /// - Parameters:
    ///   - passedNames: variables of this process besides the standard ones.
    ///   - passesEverything: all of this process's variables, but for the trace that it was started in: commands are in that of their
    ///     submission.
    ///   - mark: what all processes of this worker have.
    ///   - withheld: variables that are meant for this process alone.
    init(
        passedNames: [String] = [], passesEverything: Bool = false, mark: String? = nil, withheld: Set<String> = [],
        inherited: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.mark = mark
        if passesEverything {
            let own = Set([ExecutorConfiguration.environmentName] + TraceFields.variables.values).union(withheld)
            shared = inherited.filter { !own.contains($0.key) }
        } else {
            let names = Set(Self.standardNames + passedNames).subtracting(withheld)
            shared = Self.defaults.merging(inherited.filter { names.contains($0.key) }) { $1 }
        }
    }

    /// Later ones override earlier ones: the worker's share, variables, forEach's elements (`run` only), the context of the trace, the
    /// node's `env`, and what names the attempt and the worker: that a command cannot set.
    ///
    /// - Throws: ``OperationFault`` when one of them cannot be what it is to be.
    func make(for parameters: ShellParameters, context: UnitContext) throws -> [String: String] {
        var environment = shared
        if parameters.run != nil {
            if let variables = parameters.variables { environment.merge(variables) { $1 } }
            for (name, value) in try context.bindings.environment() where Self.isName(name) { environment[name] = value }
        }
        environment.merge(TraceFields.environment(of: context.traceFields)) { $1 }
        if let own = parameters.environment { environment.merge(own) { $1 } }
        environment["AOP_SUBMISSION"] = context.submission
        environment["AOP_PATH"] = context.path
        environment["AOP_ATTEMPT"] = String(context.attemptNumber)
        environment["AOP_WORKER"] = context.worker
        environment["AOP_IDEMPOTENCY_KEY"] = context.idempotencyKey
        if let mark { environment[WorkerMark.environmentName] = mark }
        environment.merge(try context.fences.environment()) { $1 }
        environment.merge(context.resources.environment(devices: shared[HeldResources.devicesName])) { $1 }
        try ShellParameters.refuseNul(inEnvironment: environment)
        return environment
    }

    /// Whether the kernel can hold a variable of this name.
    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first else { return false }
        return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "=") }
    }
}
