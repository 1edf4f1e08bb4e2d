import Foundation

/// What an operation does with one of its dependencies just before it runs.
final class ResultInjection {
    let apply: (AOperation) -> Void

    init(_ apply: @escaping (AOperation) -> Void) {
        self.apply = apply
    }
}

/// An operation that may take something from its dependencies: every ``AOperation``.
public protocol InjectableOperation: AOperation {}

extension AOperation: InjectableOperation {}

extension InjectableOperation {
    /// Waits for `dependency`, and calls `block` when that has ended, just before this operation runs: the place to
    /// hand over a result where ``ResultableOperation/deliver(to:)`` does not fit.
    ///
    /// ```swift
    /// let upload = Upload()
    /// upload.injectResult(from: export) { upload, export, errors in
    ///     guard errors.isEmpty else { return upload.cancel() }
    ///     upload.file = export.file
    /// }
    /// ```
    /// An operation may have any number of injections, and receive a result besides: that is there first, then the
    /// blocks are called in the order of their declaration. A block may cancel the operation or finish it; it is not
    /// executed then. Blocks of an operation that is cancelled before its start are not called. Once the operation
    /// executes it is too late and nothing happens.
    ///
    /// - Parameters:
    ///   - dependency: an operation of any kind; it need not be an `AOperation`.
    ///   - block: is given this operation, the dependency, and the errors with which that ended (none for a plain
    ///     Foundation operation).
    @discardableResult
    public func injectResult<Dependency: Foundation.Operation>(
        from dependency: Dependency,
        block: @escaping @Sendable (_ receiver: Self, _ dependency: Dependency, _ errors: [AOperationError]) -> Void
    ) -> Self {
        let injection = ResultInjection { receiver in
            guard let receiver = receiver as? Self else { return }
            block(receiver, dependency, (dependency as? AOperation)?.publishedErrors ?? [])
        }
        let isInTime = core.withLock { core in
            guard core.state.ending == nil, !core.state.isExecuting else { return false }
            core.injections.append(injection)
            return true
        }
        if isInTime { addDependency(dependency) }
        return self
    }

    /// As ``injectResult(from:block:)``.
    @discardableResult
    public func injectResultFromDependency<Dependency: Foundation.Operation>(
        _ dependency: Dependency,
        block: @escaping @Sendable (_ receiver: Self, _ dependency: Dependency, _ errors: [AOperationError]) -> Void
    ) -> Self {
        injectResult(from: dependency, block: block)
    }
}
