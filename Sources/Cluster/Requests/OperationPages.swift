import Wire

/// The operations of a submission, fetched page by page: the next one is on its way while one is read.
package struct OperationPages: AsyncSequence, Sendable {
    package typealias Element = [WireOperationView]
    private let query: WireListOperations
    private let ask: Ask

    fileprivate typealias Ask = @Sendable (WireListOperations) async throws -> WireOperationPage

    init(query: WireListOperations, ask: @escaping @Sendable (WireListOperations) async throws -> WireOperationPage) {
        self.query = query
        self.ask = ask
    }

    init(core: ConnectionCore, query: WireListOperations) {
        self.init(query: query) { query in
            guard case .operations(let page) = try await core.ask(.operations(query)) else { throw RequestLedger.unexpected }
            return page
        }
    }

    package func makeAsyncIterator() -> Iterator { Iterator(query: query, ask: ask) }

    package struct Iterator: AsyncIteratorProtocol {
        private enum Place {
            case first(WireListOperations)
            case coming(Coming)
            case end
        }

        private var place: Place
        private let ask: Ask

        fileprivate init(query: WireListOperations, ask: @escaping Ask) {
            self.ask = ask
            place = .first(query)
        }

        package mutating func next() async throws -> [WireOperationView]? {
            let current: Coming
            switch place {
            case .first(let query): current = Coming(query, ask)
            case .coming(let coming): current = coming
            case .end: return nil
            }
            place = .end
            let page = try await current.page()
            if page.next != 0 {
                var query = current.query
                query.from = page.next
                query.submission = page.id.isEmpty ? query.submission : page.id
                place = .coming(Coming(query, ask))
            }
            return page.operations
        }
    }

    /// A page that has been asked for; given up when nobody waits for it any more.
    private final class Coming: Sendable {
        let query: WireListOperations
        private let task: Task<WireOperationPage, any Error>

        init(_ query: WireListOperations, _ ask: @escaping Ask) {
            self.query = query
            task = Task { try await ask(query) }
        }

        deinit { task.cancel() }

        func page() async throws -> WireOperationPage {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }
}
