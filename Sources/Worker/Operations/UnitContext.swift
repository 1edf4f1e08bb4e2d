import AOperation
import Executing
import Foundation
import Wire

/// What a built-in operation knows of the unit it runs for, besides its parameters.
struct UnitContext: Sendable {
    enum Stream: Sendable, Hashable { case stdout, stderr }

    /// The submission's id as users see it.
    var submission: String
    var path: String
    var attemptNumber: UInt32
    /// How the coordinator calls this worker: host/index.
    var worker: String
    var bindings = Bindings()
    var fences = Fences()
    var resources = HeldResources()
    /// Between SIGTERM and SIGKILL.
    var graceMilliseconds: Int64 = 5000
    /// Called on the loop's thread with what a command writes.
    var output: @Sendable (Stream, [UInt8]) -> Void = { _, _ in }
    var host: HostSettings
    /// The secrets in its parameters.
    var redaction = Redaction()
    /// The context of the trace of its submission.
    var trace: [String: String] = [:]
    /// Around its body; nil: nothing is traced here.
    var span: BodySpan?

    /// The same for all attempts of one operation.
    var idempotencyKey: String { "\(submission)/\(path)" }

    /// Where in the trace its commands are.
    var traceFields: [String: String] { span?.fields ?? trace }
}

/// What the operations of one executor share.
struct HostSettings: Sendable {
    var hostName: String
    /// What commands get of this process's environment.
    var environment: CommandEnvironment
    /// Where commands run that name no directory; nil: in a fresh directory each.
    var workingDirectory: String?
    /// Private to this process; fresh working directories are made in it.
    var temporaryDirectory: String
    /// Runs and watches commands.
    var commands: CommandHost
    var secrets = SecretStore()
    /// Nil: nothing is traced.
    var traces = TraceDesk.current

    /// The span of a unit that has not begun; nil: nothing is traced.
    func span(of assignment: WireAssignment, on worker: String) -> BodySpan? {
        guard let traces else { return nil }
        return switch assignment.kind {
        case .execute, .conclude, .UNRECOGNIZED: traces.span(.run, of: assignment, on: worker)
        case .evaluate: traces.span(.evaluate, of: assignment, on: worker)
        case .decide: traces.span(.decide, of: assignment, on: worker)
        }
    }
}

/// A built-in operation that wants to know its unit.
protocol HostedOperation: ClusterOperation {
    /// Called once, before the operation is added to a queue.
    func host(in context: UnitContext)
}

/// An operation whose body can be ended by force.
protocol KillableOperation: AOperation {
    /// Ends the body at once.
    func kill()
}
