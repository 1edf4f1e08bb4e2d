import AOperation
import Executing

extension OperationGraph {
    /// What the operations end with when the graph cannot be submitted: all that is wrong with it.
    func errors(for error: ClusterError) -> [AOperationError] {
        guard !error.errors.isEmpty else { return [AOperationError(error)] }
        return error.errors.map { fault in
            let place = fault.path.isEmpty ? "" : "\(fault.path): "
            let one = ClusterError(error.code, "\(place)\(fault.message)", errors: [fault])
            let name = members.indices.contains(fault.node) ? members[fault.node].operation?.errorName : nil
            return AOperationError(one, state: .execution, publisher: name)
        }
    }
}
