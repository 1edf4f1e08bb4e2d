import Foundation
import Wire

/// A coordinator cannot start, or cannot go on.
public enum CoordinatorError: Error, CustomStringConvertible {
    /// Off loopback nobody is let in without keys. The command line exits with 77.
    case keysRequired(Endpoint)
    /// A key file is missing or cannot be used. The command line exits with 77.
    case keys(KeyError)
    case noEndpoint
    /// Another process listens there.
    case addressInUse(String)
    case cannotListen(ZMQError)
    case cannotServeHTTP(HTTPAddress, reason: String)
    /// Another process has the address for HTTP.
    case httpAddressInUse(HTTPAddress)
    /// The file with the token for HTTP cannot be made, or is not this user's alone.
    case httpToken(String)
    case dataDirectory(DataDirectoryError)
    case journal(JournalError)
    case blobs(BlobStoreError)
    /// ZeroMQ failed while the coordinator ran.
    case transport(ZMQError)
    case system(String)

    public var description: String {
        switch self {
        case .keysRequired(let endpoint):
            "refusing to listen on \(endpoint): other hosts could reach it, and there are no keys; "
                + "run `aop keys init`, or listen on \(endpoint.onLoopback)"
        case .keys(let error): error.description
        case .noEndpoint: "no endpoint to listen on; name one with --listen, e.g. \(Endpoint.standard)"
        case .addressInUse(let address):
            "another process listens on \(address); stop it, or choose another address"
        case .cannotListen(let error), .transport(let error): error.description
        case .cannotServeHTTP(let address, let reason):
            "cannot serve HTTP on \(address): \(reason); choose another address with --http"
        case .httpAddressInUse(let address):
            "another process listens on \(address), where HTTP is to be served; stop it, choose another address with --http, or serve none with "
                + "--http off"
        case .httpToken(let reason): "the token for HTTP cannot be used: \(reason)"
        case .dataDirectory(let error): error.description
        case .journal(let error): error.description
        case .blobs(let error): error.description
        case .system(let text): text
        }
    }

    /// Sorts what the parts throw.
    static func of(_ error: any Error, whileStarting: Bool) -> CoordinatorError {
        switch error {
        case let error as CoordinatorError: error
        case let error as KeyError: .keys(error)
        case let error as DataDirectoryError: .dataDirectory(error)
        case let error as JournalError: .journal(error)
        case let error as BlobStoreError: .blobs(error)
        case let error as ZMQError:
            if error.errno == EADDRINUSE, let endpoint = error.endpoint {
                .addressInUse("\(endpoint)")
            } else if whileStarting {
                .cannotListen(error)
            } else {
                .transport(error)
            }
        default: .system("\(error)")
        }
    }
}
