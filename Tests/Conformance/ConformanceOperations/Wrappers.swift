import AOperation
import Conformance
import Foundation

/// Makes what is planned to be its parts when it executes.
package final class ScriptedWrapper<Input: Sendable>: WrapperOperation<Input, String>, @unchecked Sendable {
    /// - Parameter received: what a history says that it has received.
    init(_ parameters: DeciderParameters, received: @escaping @Sendable (Input) -> Received) {
        super.init { given in
            parameters.makeParts(
                receiving: given.map { given in
                    switch given {
                    case .success(let value): received(value)
                    case .failure(let error): .failure(Fault(error))
                    }
                })
        }
    }
}

extension DeciderParameters {
    /// The end of the chain that a wrapper makes.
    fileprivate func makeParts(receiving received: Received?) -> ResultableOperation<String>? {
        Places.place(place).note(.generated(node, received))
        let parts = builder.parts(of: node)
        for (part, operation) in parts.sorted(by: { $0.key < $1.key }) { Places.adding(operation, as: part, at: place) }
        return plan.children(of: node).last.flatMap { parts[$0] } as? ResultableOperation<String>
    }
}
