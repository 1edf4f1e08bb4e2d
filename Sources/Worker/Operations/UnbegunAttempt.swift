import Executing
import Foundation
import Wire

/// An attempt cannot begin in this process, which has lost what all of its attempts need. Nothing of it has run: where that can be said, it is
/// given back, and else it has failed.
struct UnbegunAttempt: LocalizedError, Hashable, Sendable {
    let fault: OperationFault

    var errorDescription: String? { fault.message }
}

extension UnbegunAttempt: CodedFailure {
    func describe(in failure: inout WireOperationFailure) { fault.describe(in: &failure) }
}
