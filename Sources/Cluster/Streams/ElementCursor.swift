import AOperation
import Foundation
import Synchronization
import Wire

/// Reads the partial results of one operation, page by page: the next page is asked for when the last one was read, which
/// is all the flow control there is. It goes on across reconnects and restarts of the coordinator.
final class ElementCursor: RemotePartialResultCursor {
    private struct State {
        var place: ElementPlace
        var page: [RemotePartialResult] = []
        var head = 0
        var filling: Task<Void, any Error>?
        var isStopped = false
    }

    private let state: Mutex<State>
    private let core: ConnectionCore
    /// The submission's id, and the path in it, once they are known.
    private let place: @Sendable () async throws -> (submission: String, path: String)

    init(_ core: ConnectionCore, at place: @escaping @Sendable () async throws -> (submission: String, path: String)) {
        self.core = core
        self.place = place
        state = Mutex(State(place: ElementPlace()))
    }

    func take() -> RemotePartialResult? {
        state.withLock { state in
            guard state.head < state.page.count else { return nil }
            defer { state.head += 1 }
            return state.page[state.head]
        }
    }

    func fill() async throws {
        let task = Task { try await ask() }
        let isStopped = state.withLock { state in
            state.filling = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func ask() async throws {
        let (id, path) = try await place()
        try Task.checkCancellation()
        let place = state.withLock { $0.place }
        let request = WireReadElements.with {
            $0.submission = id
            $0.path = path
            $0.attempt = place.attempt
            $0.index = place.index
            $0.wait = true
        }
        guard case .elements(let page) = try await core.ask(.elements(request)) else { throw RequestLedger.unexpected }
        state.withLock { state in
            state.page = state.place.read(page)
            state.head = 0
        }
    }

    func operationEnded(_ error: AOperationError?) {
        guard let error, error.publishedError is AOperationError.IsCancelled || error.publishedError is ClusterError else { return }
        let task = state.withLock { state in
            state.isStopped = true
            return state.filling
        }
        task?.cancel()
    }
}

/// Up to where a reader of partial results has read: pure.
package struct ElementPlace: Equatable {
    /// 0: of none.
    package private(set) var attempt: UInt32 = 0
    package private(set) var index: UInt64 = 0
    /// Something of that attempt was told.
    private var hasRead = false

    package init() {}

    /// What a page means for the reader.
    package mutating func read(_ page: WireElementPage) -> [RemotePartialResult] {
        var events: [RemotePartialResult] = []
        if page.attempt != attempt {
            if hasRead { events.append(.restarted(attempt: Int(page.attempt))) }
            attempt = page.attempt
            index = 0
            hasRead = false
        }
        for element in page.elements where element.index >= index {
            skip(to: element.index, &events)
            events.append(
                .element(EncodedValue(element.encoding, element.bytes), attempt: Int(attempt), index: Int(clamping: element.index)))
            index = element.index + 1
            hasRead = true
        }
        skip(to: page.next, &events)
        if page.ended { events.append(.ended) }
        return events
    }

    private mutating func skip(to next: UInt64, _ events: inout [RemotePartialResult]) {
        guard next > index else { return }
        events.append(.missed(count: Int(clamping: next - index)))
        index = next
        hasRead = true
    }
}
