import Foundation
import Scheduling

/// An error of the `AOperation` library as it travels: what `PortableErrors` there reads.
struct LibraryError: Encodable {
    /// The fully qualified name of the type.
    let name: String
    let error: Content

    /// The stored properties of the library's types.
    enum Content: Encodable {
        /// `TimeoutObserver.Error`
        case seconds(Double)
        /// `AOperationError.QueueTimeout`, `AOperationError.DeadlinePassed`
        case limit(operation: String, Swift.Duration)
        /// `AOperationError.IgnoredDuplicate`
        case duplicate(operation: String, uniqueId: String, first: String)
        /// `AOperationError.LockCycle`
        case circle(operation: String, keys: [String], holders: [String])
        /// `NoFailedDependencies.Error`, `NoCancelledDependencies.Error`
        case dependencies(failed: [String], cancelled: [String])
        /// `NegatedConditionError`
        case negated(String)

        private enum CodingKeys: String, CodingKey {
            case seconds, limit, operation, uniqueId, first, keys, holders, failedDependencies, canceledDependencies, negatedConditionKey
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .seconds(let seconds): try container.encode(seconds, forKey: .seconds)
            case .limit(let operation, let limit):
                try container.encode(operation, forKey: .operation)
                try container.encode(limit, forKey: .limit)
            case .duplicate(let operation, let uniqueId, let first):
                try container.encode(operation, forKey: .operation)
                try container.encode(uniqueId, forKey: .uniqueId)
                try container.encode(first, forKey: .first)
            case .circle(let operation, let keys, let holders):
                try container.encode(operation, forKey: .operation)
                try container.encode(keys, forKey: .keys)
                try container.encode(holders, forKey: .holders)
            case .dependencies(let failed, let cancelled):
                try container.encode(failed, forKey: .failedDependencies)
                try container.encode(cancelled, forKey: .canceledDependencies)
            case .negated(let key): try container.encode(key, forKey: .negatedConditionKey)
            }
        }
    }

    /// As long as an error may be that is sent with what it consists of; a longer one travels as its text.
    private static let imageBytesMax = 16 * 1_024

    /// Empty: it is too long.
    var image: Data {
        guard let image = try? JSONEncoder().encode(self), image.count <= Self.imageBytesMax else { return Data() }
        return image
    }
}

extension Failure {
    /// nil: it is none of the scheduler's own.
    var libraryError: LibraryError? {
        guard let detail else { return nil }
        let content: LibraryError.Content =
            switch detail {
            case .limit(let milliseconds) where typeName == "TimeoutObserver.Error": .seconds(Double(milliseconds) / 1_000)
            case .limit(let milliseconds): .limit(operation: publisher, .milliseconds(milliseconds))
            case .uniqueID(let id): .duplicate(operation: publisher, uniqueId: id, first: duplicateOf)
            case .circle(let keys, let holders): .circle(operation: publisher, keys: keys, holders: holders)
            case .dependencies(let failed, let cancelled): .dependencies(failed: failed, cancelled: cancelled)
            case .negated(let key): .negated(key)
            }
        // Whichever condition was negated, that is the type.
        let type = if case .negated = detail { "NegatedConditionError" } else { typeName }
        return LibraryError(name: "AOperation.\(type)", error: content)
    }
}
