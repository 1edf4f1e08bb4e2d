import Wire

/// The operations of a submission, asked for before it has ended: the first page of them comes with its end.
struct EndPage: Sendable {
    private let core: ConnectionCore
    private let query: WireListOperations
    private let page: Task<WireOperationPage?, any Error>

    /// Asks. What was asked before is asked before.
    init(of submission: String, _ core: ConnectionCore) {
        let query = WireListOperations.with {
            $0.submission = submission
            $0.values = true
            $0.atEnd = true
        }
        self.core = core
        self.query = query
        page = Task {
            let answer: WireResponse.OneOf_Body
            do { answer = try await core.ask(.operations(query)) } catch let error as ClusterError where error.code == .notFound {
                // On a connection that was made anew meanwhile it may have come before the submission did.
                return nil
            }
            guard case .operations(let page) = answer else { throw RequestLedger.unexpected }
            // A coordinator that does not know of ends, or is asked for many, has answered at once.
            guard let root = page.operations.first, root.unit == 0, root.state.isFinal else { return nil }
            return page
        }
    }

    /// All of them, when the submission has ended; nil: they have to be asked for.
    ///
    /// - Throws: ``ClusterError``; `CancellationError`.
    func operations() async throws -> [WireOperationView]? {
        let first = try await withTaskCancellationHandler {
            try await page.value
        } onCancel: {
            page.cancel()
        }
        guard let first else { return nil }
        var views = first.operations
        guard first.next != 0 else { return views }
        var query = query
        query.submission = first.id
        query.from = first.next
        for try await page in OperationPages(core: core, query: query) { views += page }
        return views
    }

    /// Nobody wants them any more.
    func abandon() { page.cancel() }
}
