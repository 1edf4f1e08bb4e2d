import AOperation
import Foundation

/// What the articles' operations fetch from: a network that is nobody's.
///
/// An address with "fail" in it fails, one with "silent" never answers; all others answer with themselves.
enum Network {
    struct Unreachable: LocalizedError {
        let address: String
        var errorDescription: String? { "\(address) cannot be reached" }
    }

    static func get(_ address: String, _ completion: @escaping @Sendable (Result<Data, AOperationError>) -> Void) {
        guard !address.contains("silent") else { return }
        DispatchQueue.global().async {
            let isFailing = address.contains("fail")
            completion(isFailing ? .failure(AOperationError(Unreachable(address: address))) : .success(Data(address.utf8)))
        }
    }
}
