import Foundation

/// What a wrapper that is a mirror makes in this process when it starts: the operation that it runs, which somebody else makes a
/// part of the graph.
///
/// Invariant behind `@unchecked Sendable`: everything is only reached under the lock.
final class WrapperPart: @unchecked Sendable {
    private struct State {
        var made: Result<AOperation, AOperationError>?
        var handler: (@Sendable (Result<AOperation, AOperationError>) -> Void)?
    }

    private let state = Guarded(State())

    var operation: AOperation? { state.withLock { try? $0.made?.get() } }

    func put(_ made: Result<AOperation, AOperationError>) {
        let handler = state.withLock { state in
            state.made = made
            defer { state.handler = nil }
            return state.handler
        }
        handler?(made)
    }

    func whenMade(_ handler: @escaping @Sendable (Result<AOperation, AOperationError>) -> Void) {
        let made = state.withLock { state in
            if state.made == nil { state.handler = handler }
            return state.made
        }
        if let made { handler(made) }
    }
}

extension AOperation {
    /// The wrapper has started here: makes its operation, whose value is to be its own.
    final func makePartOfMirror() {
        guard makesParts, let part = attachment(\.part), part.operation == nil, core.withLock({ $0.isBodyDue && !$0.isCancelAsked }) else {
            return
        }
        guard let operation = makePart() else {
            let error = AOperationError(AOperationError.NothingToRun(self), state: .execution, publisher: publisherName)
            return part.put(.failure(error))
        }
        guard !isInside(of: operation) else {
            let error = AOperationError.WaitsForItself(self, running: operation)
            return part.put(.failure(AOperationError(error, state: .execution, publisher: publisherName)))
        }
        core.withLock { $0.attachments?.remote?.hosting = .used(.attempt(operation)) }
        part.put(.success(operation))
    }

    /// Of a wrapper: the operation that it has made, once it has.
    package final var madePart: AOperation? { attachment(\.part)?.operation }

    /// Whether it is a mirror whose end follows from that of what it makes.
    package final var isWrapper: Bool { attachment(\.part) != nil }

    /// Its value comes from elsewhere: another process was asked what it makes. What was made here comes to no queue.
    package final func giveUpPart() {
        core.withLock { $0.attachments?.remote?.hosting = .used(.none) }
        cancelUnusedPart()
    }

    /// What it has made is for nobody, if it is in no queue.
    package final func cancelUnusedPart() {
        guard let part = madePart, part.isInitialized else { return }
        for operation in part.everythingInNoQueue().reversed() { operation.cancelUnqueued() }
    }

    /// Of a wrapper: tells the operation that it makes when it starts, or why there is none.
    ///
    /// - Returns: false for an operation that is no wrapper.
    package final func whenPartIsMade(_ handler: @escaping @Sendable (Result<AOperation, AOperationError>) -> Void) -> Bool {
        guard let part = attachment(\.part) else { return false }
        part.whenMade(handler)
        return true
    }
}
