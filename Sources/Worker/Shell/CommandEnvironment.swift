import Foundation

/// Puts a command's environment together.
enum CommandEnvironment {
    /// Present in every command's environment.
    static let standardNames = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"]
    /// For processes that were started without one.
    static let defaults = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "TMPDIR": "/tmp"]

    /// Later ones override earlier ones: the worker's share, variables, forEach's elements (`run` only), the node's
    /// `env`, and what names the attempt.
    static func make(
        for parameters: ShellParameters, context: UnitContext,
        inherited: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> [String: String] {
        var environment = base(settings: context.host, inherited: inherited)
        if parameters.run != nil {
            environment.merge(parameters.variables ?? [:]) { $1 }
            for (name, value) in try context.bindings.environment() where isName(name) { environment[name] = value }
        }
        environment.merge(parameters.environment ?? [:]) { $1 }
        environment["AOP_SUBMISSION"] = context.submission
        environment["AOP_PATH"] = context.path
        environment["AOP_ATTEMPT"] = String(context.attemptNumber)
        environment["AOP_WORKER"] = context.worker
        environment["AOP_IDEMPOTENCY_KEY"] = context.idempotencyKey
        return environment
    }

    private static func base(settings: HostSettings, inherited: [String: String]) -> [String: String] {
        if settings.passesEverything {
            return inherited.filter { $0.key != ExecutorConfiguration.environmentName }
        }
        var environment = defaults
        for name in standardNames + settings.passedNames {
            if let value = inherited[name] { environment[name] = value }
        }
        return environment
    }

    /// Whether the kernel can hold a variable of this name.
    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first else { return false }
        return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "=") }
    }
}
