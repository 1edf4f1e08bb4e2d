import AOperation
import Cluster
import Conformance
import ConformanceOperations
import Executing

/// What errors of other processes are to histories.
package enum RemoteFaults {
    /// Once in each process, before anything is run.
    package static func register() {
        FaultKinds.register { error in (error as? RemoteError)?.kind }
        FaultKinds.registerNames { error in error.nameInItsProgram }
        PortableErrors.register(ConformanceTypes.errors)
    }
}

extension RemoteError {
    /// Of an error that the submitting program is told.
    fileprivate var kind: Fault.Kind? {
        switch code {
        case .timeout: .timeout
        case .deadline: .deadline
        case .duplicate: .duplicate
        default: nil
        }
    }
}

extension AOperationError {
    /// A worker knows the operations of others by their types and paths: the last part of that is the program's name. What went
    /// through an operation of the program has the name from there.
    fileprivate var nameInItsProgram: String? {
        guard state == .execution, publisher?.wholeMatch(of: /n[0-9]+/) == nil, let origin = (transit as? Transit)?.failure.origin,
            !origin.isEmpty
        else { return nil }
        let names = origin.split(separator: "/")
        // What is made of a list has a number, which is its own only with the list's name.
        if let last = names.last, last.allSatisfy(\.isWholeNumber) { return names.suffix(2).joined(separator: "/") }
        // What was added has the number of the addition in that.
        return names.last?.split(separator: "+").first.map(String.init)
    }
}
