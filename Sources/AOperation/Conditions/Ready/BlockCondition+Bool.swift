import Foundation

extension BlockCondition {
    /// The condition's block returned false.
    public struct Error: LocalizedError, PortableError, Hashable, Sendable {
        public init() {}

        public var errorDescription: String? { "The block of the condition returned false" }
    }

    /// A condition that holds if `block` returns true.
    ///
    /// ```swift
    /// upload.conditions(BlockCondition { try fileSize(path) < limit })
    /// ```
    /// False fails with ``Error``, and what the block throws is what the condition fails with. The block is called
    /// once for every attempt, on the thread that evaluates the conditions: it should return soon.
    public init(_ block: @escaping @Sendable () throws -> Bool) {
        self.init { completion in
            do {
                completion(try block() ? .success : .failure(AOperationError(Error())))
            } catch {
                completion(.failure(AOperationError(error)))
            }
        }
    }
}
