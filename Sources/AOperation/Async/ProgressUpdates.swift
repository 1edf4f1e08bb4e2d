/// The progress of an operation as it changes: see ``AOperation/progressUpdates``.
public struct ProgressUpdates: AsyncSequence, Sendable {
    public typealias Element = OperationProgress
    public typealias Failure = Never

    private let board: ProgressBoard

    init(_ board: ProgressBoard) {
        self.board = board
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(board: board)
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let board: ProgressBoard
        private var seen = 0

        fileprivate init(board: ProgressBoard) {
            self.board = board
        }

        public mutating func next() async -> OperationProgress? {
            await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> OperationProgress? {
            while !Task.isCancelled {
                switch board.read(after: seen) {
                case .news(let progress, let version):
                    seen = version
                    return progress
                case .nothing: await board.wait(after: seen)
                case .end: return nil
                }
            }
            return nil
        }
    }
}

extension AOperation {
    /// Tells how far the operation has come: its observers (on this thread), and who reads ``progressUpdates``.
    ///
    /// ```swift
    /// for (index, file) in files.enumerated() {
    ///     reportProgress(Double(index) / Double(files.count), message: file.name)
    ///     try await read(file)
    /// }
    /// ```
    /// What is reported after the outcome is decided is ignored; what another attempt reports counts as reported by the
    /// operation that was tried again. Cheap enough for every step, not for every byte.
    /// - Parameters:
    ///   - fraction: from 0 to 1; it may fall, e.g. when more work is found.
    ///   - message: what is being done, in words for a person.
    public final func reportProgress(_ fraction: Double, message: String? = nil) {
        let progress = OperationProgress(fraction, message: message)
        let whole = logical  // which the program knows, and listens to, whatever attempt this is
        guard ending == nil, whole.ending == nil, progressBoard.put(progress) else { return }
        whole.attachment(\.progressRelay)?(progress)
        for observer in whole.core.withLock({ $0.observers }) { observer.operation(whole, didReportProgress: progress) }
    }

    /// Passes on everything that the operation reports; `relay` is called on the reporting thread.
    package final func relayProgress(to relay: @escaping @Sendable (OperationProgress) -> Void) {
        withAttachments { $0.progressRelay = relay }
    }

    /// What the operation reported last; nil before it reported anything.
    public final var latestProgress: OperationProgress? { attachment(\.progress)?.latest }

    /// What the operation reports, beginning with the latest; ends with the operation. A reader that is slow misses
    /// what is outdated, never the newest. Reading ends, too, when the consuming task is cancelled.
    public final var progressUpdates: ProgressUpdates { ProgressUpdates(progressBoard) }

    /// Made when it is first needed: by a report, a reader, or the next attempt.
    final var progressBoard: ProgressBoard {
        if let board = attachment(\.progress) { return board }
        let made = ProgressBoard()
        let board = withAttachments { attachments in
            // Somebody else may have made one meanwhile.
            if let board = attachments.progress { return board }
            attachments.progress = made
            return made
        }
        if board === made { onSettled { _, _ in made.close() } }
        return board
    }
}
