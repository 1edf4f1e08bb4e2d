import AOperation
import Foundation

/// A command line ends with exit code 0. Registered as `command`.
///
/// The round of conditions runs it as a command of its own, so that it can be stopped.
struct CommandCondition: ClusterCondition {
    static let conditionName = "command"
    var run: String
    /// Variables of the graph.
    var variables: [String: String]?

    /// The command, without a value.
    func operation(in context: UnitContext) -> ShellOperation {
        let operation = ShellOperation(ShellParameters(run: run, variables: variables, output: ShellParameters.OutputForm.none))
        var quiet = context
        // What it prints is no output of the operation; the end of its stderr is part of its error.
        quiet.output = { _, _ in }
        operation.host(in: quiet)
        operation.grace = .seconds(1_000_000)
        return operation
    }

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(.failure(AOperationError(OperationFault(.operation, "a command runs only on a worker"))))
    }
}
