import AOperation
import Foundation

/// A server takes connections: `tcp://host:port`, or the host of an http, https, ws or wss URL. Registered as `reachable`.
struct ReachableCondition: ClusterCondition {
    static let conditionName = "reachable"
    var url: String

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        guard let target = URL(string: url), target.host != nil else {
            let fault = OperationFault(.parameters, "`reachable` is \"\(url)\": it must be a URL such as tcp://host:port")
            return completion(.failure(AOperationError(fault)))
        }
        ReachabilityCondition(url: target).evaluateForOperation(operation, completion: completion)
    }
}
