import AOperation
import Executing
import Wire

extension OperationGraph {
    /// The error as the program knows it: the library's own ones are themselves again, and name the operation as this
    /// program does.
    ///
    /// - Parameter node: whose error it is; it may be born in another one.
    func error(_ failure: WireOperationFailure, of node: Int) -> AOperationError {
        let place = failure.origin.isEmpty ? node : places[failure.origin]
        var origin = place.flatMap { members.indices.contains($0) ? members[$0] : nil }
        // A decision is the group's.
        if let decider = origin, decider.operation == nil, decider.parent != place { origin = members[decider.parent] }
        let name = origin?.operation?.errorName ?? failure.publisher
        // Of a submission of another process no operation is known.
        let path = failure.origin.isEmpty && members.indices.contains(node) ? members[node].path : failure.origin
        if let original = hostedErrors.original(of: failure, at: path) { return original }
        func ownName(_ other: String) -> String { origin.map { isOwnName(other, of: $0) } ?? false ? name : other }
        func nameHere(_ other: String) -> String {
            let own = ownName(other)
            return own == other ? self.nameHere(ofPath: other) : own
        }
        let told = failure.code == .condition && failure.parts.isEmpty ? origin?.operation?.errorOfCondition(failure.publisher) : nil
        let published =
            told?.publishedError
            ?? failure.publishedError(name: nameHere, others: nameHere(ofPath:)) { self.error($0, of: node) }
        var error = AOperationError(
            published, state: failure.state == .condition ? .condition : .execution, publisher: ownName(failure.publisher))
        // An operation that executes here may fail with it: it goes on as what it was.
        error.transit = Transit(failure, to: hostedErrors.graph)
        return error
    }

    private func nameHere(ofPath path: String) -> String {
        guard let place = places[path], members.indices.contains(place) else { return path }
        return members[place].operation?.errorName ?? path
    }

    /// Whether this is what the cluster calls the operation itself: its path, or its type.
    private func isOwnName(_ publisher: String, of member: Member) -> Bool {
        guard !publisher.isEmpty, publisher != member.path, let operation = member.operation else { return true }
        if let added = operation as? AddedOperation { return publisher == added.operationType }
        return publisher == "\(type(of: operation))" || publisher == (operation as? any ClusterOperation).map { type(of: $0).operationName }
    }
}
