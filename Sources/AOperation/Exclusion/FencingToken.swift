import Foundation
import Synchronization

extension AOperation {
    /// A number for writes that the lock `key` protects: it rises with every attempt that runs under the lock, so
    /// that a resource can refuse a write with a smaller number than the last one it saw.
    ///
    /// The upper 32 bits are the epoch, here the second in which the process began to hand out numbers; a later
    /// process goes on with greater ones as long as the clock is not set back.
    ///
    /// - Returns: the number of the attempt that is executing; nil if neither this operation, nor one that it is inside
    ///   of, holds the lock, or if it has not started.
    public final func fencingToken(for key: String) -> UInt64? {
        var next: AOperation? = self
        while let operation = next {
            let (request, token, adopted) = operation.core.withLock { ($0.lockRequest, $0.fencingToken, $0.adoptedTokens[key]) }
            if let adopted { return adopted }
            if let request, request.names.contains(key) { return token }
            next = operation.enclosing
        }
        return nil
    }

    /// Takes over numbers, by key, that were handed out with locks held elsewhere on behalf of this operation.
    package final func adoptFencingTokens(_ tokens: [String: UInt64]) {
        guard !tokens.isEmpty else { return }
        core.withLock { $0.adoptedTokens = tokens }
    }

    /// The number for the lock of `condition`: ``fencingToken(for:)-(String)``.
    public final func fencingToken(for condition: some AOperationCondition) -> UInt64? {
        condition.exclusion.flatMap { fencingToken(for: $0.key) }
    }
}

enum FencingTokens {
    private static let epoch = UInt64(UInt32(clamping: Int(Date().timeIntervalSince1970))) << 32
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        epoch + last.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
