import Foundation

/// An observer made of closures.
public struct BlockObserver: AOperationObserver {
    private let startHandler: (@Sendable (AOperation) -> Void)?
    private let produceHandler: (@Sendable (AOperation, Foundation.Operation) -> Void)?
    private let cancelHandler: (@Sendable (AOperation) -> Void)?
    private let finishHandler: (@Sendable (AOperation, [AOperationError]) -> Void)?
    private let progressHandler: (@Sendable (AOperation, OperationProgress) -> Void)?
    /// What holds the end back, if anything does.
    let holder: WillFinishObserver?

    /// - Parameter willFinishHandler: holds the end back until it calls the closure that it is given; see ``HoldingObserver``.
    public init(
        startHandler: (@Sendable (AOperation) -> Void)? = nil,
        produceHandler: (@Sendable (AOperation, Foundation.Operation) -> Void)? = nil,
        cancelHandler: (@Sendable (AOperation) -> Void)? = nil,
        progressHandler: (@Sendable (AOperation, OperationProgress) -> Void)? = nil,
        willFinishHandler: WillFinishObserver.Handler? = nil,
        finishHandler: (@Sendable (AOperation, [AOperationError]) -> Void)? = nil
    ) {
        self.startHandler = startHandler
        self.produceHandler = produceHandler
        self.cancelHandler = cancelHandler
        self.finishHandler = finishHandler
        self.progressHandler = progressHandler
        holder = willFinishHandler.map { WillFinishObserver($0) }
    }

    /// The same with the names of the events. (A closure without a label is the other initializer's.)
    @_disfavoredOverload
    public init(
        didStart: (@Sendable (AOperation) -> Void)? = nil,
        didCancel: (@Sendable (AOperation) -> Void)? = nil,
        didProduce: (@Sendable (AOperation, Foundation.Operation) -> Void)? = nil,
        willFinish: WillFinishObserver.Handler? = nil,
        didFinish: (@Sendable (AOperation, [AOperationError]) -> Void)? = nil
    ) {
        self.init(
            startHandler: didStart, produceHandler: didProduce, cancelHandler: didCancel, willFinishHandler: willFinish,
            finishHandler: didFinish)
    }

    /// An observer that does nothing.
    public init() {
        self.init(startHandler: nil)
    }

    public func operationDidStart(_ operation: AOperation) { startHandler?(operation) }

    public func operation(_ operation: AOperation, didProduceOperation newOperation: Foundation.Operation) {
        produceHandler?(operation, newOperation)
    }

    public func operation(_ operation: AOperation, didReportProgress progress: OperationProgress) {
        progressHandler?(operation, progress)
    }

    public func operationDidCancel(_ operation: AOperation) { cancelHandler?(operation) }

    public func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) {
        finishHandler?(operation, errors)
    }
}
