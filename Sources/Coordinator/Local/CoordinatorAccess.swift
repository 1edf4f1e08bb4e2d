import Scheduling
import Wire

/// What serves HTTP for a coordinator, and ends with it.
package protocol CoordinatorHTTP: Sendable {
    /// Serves until it is cancelled; `listening` is told the address once it is bound.
    ///
    /// - Throws: `CoordinatorError.cannotServeHTTP`.
    func run(_ access: CoordinatorAccess, listening: @escaping @Sendable (HTTPAddress) -> Void) async throws
}

/// A running coordinator for the other parts of its process. Everything goes through the mailbox of its transport thread.
package struct CoordinatorAccess: Sendable {
    let mailbox: Mailbox<LoopEvent>

    /// Whether a reader may only look, or do all that the coordinator's own user may.
    package enum Rights: Sendable { case observer, owner }

    /// Connects a client within the process.
    ///
    /// - Parameter tell: is called on the transport thread, and must not hold it up.
    package func connect(_ rights: Rights, tell: @escaping @Sendable (LocalLink.Event) -> Void) -> LocalLink {
        let authority: Authority =
            switch rights {
            case .owner: .unlimited
            case .observer:
                Authority(principal: "http", roles: ["observe"], maySubmit: false, mayObserve: true, mayAdminister: false)
            }
        let link = LocalLink(authority, mailbox, tell: tell)
        link.open()
        return link
    }

    /// nil: the transport thread did not answer in time.
    package func metrics(within patience: Duration = .seconds(2)) async -> CoordinatorMetrics? {
        await ask(within: patience) { .metrics($0) }
    }

    /// Its epoch; nil: the transport thread did not answer in time.
    package func epoch(within patience: Duration = .seconds(2)) async -> UInt32? {
        let health: Health? = await ask(within: patience) { .probe($0) }
        return health?.epoch
    }

    /// Waits until something durable, what runs, or who is connected and heard, is not as it was at `version`.
    ///
    /// - Returns: the version that it is now; nil: the coordinator has ended, or the task was cancelled.
    package func change(since version: UInt64) async -> UInt64? {
        let answer = OneShot<UInt64?>()
        mailbox.post(.waitForChange(since: version, answer))
        // A coordinator that has ended reads no mail.
        return await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.set(nil)
        }
    }

    /// What the units of a submission wait for; nil: there is no such submission, or no answer in time.
    package func edges(of id: String, from unit: Int, limit: Int) async -> (edges: [UnitEdges], next: Int)? {
        let page: EdgePage? = await ask(within: .seconds(5)) { .edges(id, from: unit, limit: limit, $0) }
        return page.map { ($0.edges, $0.next) }
    }

    private func ask<Answer: Sendable>(
        within patience: Duration, _ event: (OneShot<Answer?>) -> LoopEvent
    ) async -> Answer? {
        let answer = OneShot<Answer?>()
        mailbox.post(event(answer))
        let timeout = Task {
            try await Task.sleep(for: patience)
            answer.set(nil)
        }
        defer { timeout.cancel() }
        return await answer.value
    }
}

struct EdgePage: Sendable {
    let edges: [UnitEdges]
    let next: Int
}
