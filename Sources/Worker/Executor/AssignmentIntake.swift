import AOperation
import Executing
import Foundation
import Wire

/// What a worker reads of an assignment before it runs anything: what fuzzing is about.
///
/// Nothing of it may trap, whatever the assignment says.
package struct AssignmentIntake {
    private let registry: OperationRegistry

    package init() throws { registry = try OperationRegistry([], withShell: true) }

    /// Makes the operation as it would be run, and throws it away.
    package func read(_ assignment: WireAssignment) {
        _ = Fences(assignment.fences)
        _ = HeldResources(assignment.resources)
        let bindings = Bindings(assignment.bindings)
        // Each of these is answered by a failure of the operation.
        do {
            let parameters =
                assignment.templated ? try Template.render(assignment.parameters, bindings: bindings) : assignment.parameters
            _ = try registry.entries[assignment.operation]?.make(parameters)
        } catch { _ = error.localizedDescription }
        do {
            let received = try assignment.inputs.map { try ReceivedValue($0) { _ in nil } }
            _ = ReceivedInput(received, asArray: assignment.receivesArray, untouched: false)
        } catch { _ = error.localizedDescription }
    }
}
