import Foundation

/// An operation whose success carries a value.
///
/// Override ``AOperation/execute()`` and call ``finish(with:)`` once, on any thread.
///
/// Invariant behind `@unchecked Sendable`: `value` and `willFinishHandler` are only reached under the lock of `core`.
open class ResultableOperation<Output>: AOperation, @unchecked Sendable {
    /// Stored by the proposal that leads to a success; to be read only when the outcome is one.
    fileprivate final var value: Output?
    private final var willFinishHandler: WillFinish?

    private typealias WillFinish =
        @Sendable (Result<Output, AOperationError>, _ finish: @escaping @Sendable () -> Void) -> Void

    public override init() {
        super.init()
    }

    // MARK: Outcome

    /// How the operation ended; nil while its outcome is open.
    public final var outcome: OperationOutcome<Output>? {
        core.withLock { core in
            switch core.state.ending {
            case .success: value.map { .success($0) }
            case .failure(let errors): .failure(errors)
            case .cancelled: .cancelled
            case nil: nil
            }
        }
    }

    /// The value, or the first error (for a cancelled operation ``AOperationError/IsCancelled``); nil while the
    /// outcome is open. Once those go on that wait for it in a delivery net that may be tried again, it is for them how the
    /// last attempt has ended: that is no ``outcome`` yet.
    public final var result: Result<Output, AOperationError>? {
        core.withLock { core in core.state.delivered.flatMap { result(of: $0) } }
    }

    /// The errors of the outcome: empty on success, and while it is open.
    public final var errors: [AOperationError] { publishedErrors }

    /// Under the lock of `core`.
    private final func result(of ending: Ending) -> Result<Output, AOperationError>? {
        switch ending {
        case .success: value.map { .success($0) }
        case .failure(let errors): errors.first.map { .failure($0) }
        case .cancelled(let error): .failure(error)
        }
    }

    // MARK: Finishing

    /// Ends the work with its result. Only the first call counts; what comes after a cancellation or a timeout is
    /// ignored, but tells that the body has ended.
    public func finish(with result: Result<Output, AOperationError>) {
        conclude(withResult: result)
    }

    /// As ``finish(with:)``, past the overrides of subclasses.
    ///
    /// Final: an override for operations without a value would save something, but optimised code of other modules, into which `finish(with:)` is
    /// inlined, then calls an entry of the subclass's method table that is not there ("Call of deleted method", Swift 6.3).
    final func conclude(withResult result: Result<Output, AOperationError>) {
        switch result {
        case .success(let value): conclude(with: .success) { self.value = value }
        case .failure(let error): conclude(with: Ending.failure([error]))
        }
    }

    override func concludeWithoutResult() {
        if let nothing = () as? Output {
            conclude(withResult: .success(nothing))
        } else {
            conclude(withResult: .failure(AOperationError(AOperationError.ResultIsMissing(self))))
        }
    }

    // MARK: Listeners

    /// Calls `completion` with the result when the operation has finished: once, however it ended, on the callback
    /// queue. Several closures are called in the order in which they were added; one added after the end is called
    /// too.
    @discardableResult
    public final func didFinish(_ completion: @escaping @Sendable (Result<Output, AOperationError>) -> Void) -> Self {
        onSettled { operation, callbacks in
            guard let operation = operation as? ResultableOperation<Output> else { return }
            callbacks.async {
                if let result = operation.result { completion(result) }
            }
        }
        return self
    }

    /// Calls `completion` with the result that the body proposes, and holds the end back until `finish` is called,
    /// now or later, on any thread. A cancellation or a timeout meanwhile ends the operation without it. The last
    /// closure that was set counts. It is not called for an operation that was cancelled or whose conditions failed.
    @discardableResult
    public final func willFinish(
        _ completion:
            @escaping @Sendable (Result<Output, AOperationError>, _ finish: @escaping @Sendable () -> Void) -> Void
    ) -> Self {
        let (isMirror, replaced) = core.withLock { core -> (Bool, WillFinish?) in
            guard core.attachments?.remote == nil else { return (true, nil) }
            guard !core.state.isEnded else { return (false, nil) }
            defer { willFinishHandler = completion }
            return (false, willFinishHandler)
        }
        withExtendedLifetime(replaced) {}  // released outside of the lock
        if isMirror { tooLate("`willFinish`") }
        return self
    }

    final override func holdsBack() -> Bool { willFinishHandler != nil || super.holdsBack() }

    final override func holdListeners(of ending: Ending) -> [HoldListener] {
        let (handler, proposed) = core.withLock { _ in (willFinishHandler, result(of: ending)) }
        guard let handler, let proposed else { return super.holdListeners(of: ending) }
        return super.holdListeners(of: ending) + [{ finish in handler(proposed, finish) }]
    }

    // MARK: For the library

    final override func takeClosures() -> Closures? {
        guard let handler = willFinishHandler else { return super.takeClosures() }
        willFinishHandler = nil
        var closures = super.takeClosures() ?? Closures()
        closures.willFinish = handler
        return closures
    }

    final override func adoptValue(of attempt: AOperation) -> Any? {
        guard let attempt = attempt as? ResultableOperation<Output> else { return nil }
        defer { value = attempt.core.withLock { _ in attempt.value } }
        return value
    }

    final override func concludeRemotely(with value: EncodedValue) throws {
        let decoded = try ValueCodec.decode(Output.self, from: value)
        conclude(withResult: .success(decoded))
    }

    final override class var outputType: Any.Type { Output.self }

    final override func anyValue() -> Any? {
        core.withLock { _ in value }
    }

    final override func encodedValue() throws -> EncodedValue {
        guard let value = core.withLock({ _ in value }) else {
            throw AOperationError(AOperationError.ResultIsMissing(self))
        }
        return try ValueCodec.encode(value)
    }
}

/// An operation whose success carries no value.
open class VoidOperation: ResultableOperation<Void>, @unchecked Sendable {
    public override init() {
        super.init()
    }
}

extension ResultableOperation where Output == Void {
    /// Ends the work: with success, or with `error`.
    public final func finish(_ error: AOperationError? = nil) {
        finish(with: error.map { .failure($0) } ?? .success(()))
    }

    /// Ends the work with `error`.
    public final func finish(with error: AOperationError) {
        finish(with: .failure(error))
    }
}

extension Result {
    /// The error of a failure.
    public var error: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}
