import Foundation

extension GroupOperation {
    /// The value of each child, in child order; nil for a child that failed or was cancelled, `()` for one without a
    /// value. Complete when the group has ended, as ``outcomes`` is.
    public final var results: [Any?] { outcomes.map(\.value) }

    /// The value of each child, in child order; nil also where it is no `Value`.
    ///
    /// ```swift
    /// let issues = group.results(of: [Issue].self).compactMap { $0 }.flatMap { $0 }
    /// ```
    public final func results<Value>(of type: Value.Type) -> [Value?] {
        outcomes.map { $0.value as? Value }
    }

    /// The errors of each child, in child order; empty for a child that succeeded or was cancelled.
    public final var errorsByChild: [[AOperationError]] { outcomes.map(\.errors) }
}

extension AOperation {
    /// The value of a success, if it is a `Value`: for those who know an operation only as `AOperation`, as a sequence
    /// does the step before. Nil while the outcome is open.
    ///
    /// A value that a cluster has delivered as it arrived, of an operation that was made there, is decoded.
    public final func value<Value>(as type: Value.Type) -> Value? {
        anyOutcome?.value.flatMap { EncodedValue.read($0, as: type) }
    }
}
