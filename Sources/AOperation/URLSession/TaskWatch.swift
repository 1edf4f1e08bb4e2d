import Foundation

/// Follows a task that somebody else made, until it has ended.
///
/// Foundation on Linux has no key-value observing, and reports only to the delegate of the task's session. In a
/// session of the library's that is heard at once. Everywhere else, and for tasks with a completion handler, the
/// task's state is looked at, 20 times a second.
///
/// Invariant behind `@unchecked Sendable`: `state` is only reached on the queue of all watches.
final class TaskWatch: @unchecked Sendable {
    typealias Completion = @Sendable ((any Error)?) -> Void

    private enum State {
        case idle
        /// Held by the timer until the task has ended.
        case watching(any DispatchSourceTimer, Completion)
        /// The task's answer asks for credentials that nobody has: the task is cancelled, as Foundation does not end
        /// it otherwise, and has not failed.
        case refused(any DispatchSourceTimer, Completion)
        case over
    }

    /// One for all: Foundation's calls wait for a queue of its own.
    private static let queue = DispatchQueue(label: "AOperation.tasks")
    private static let interval = DispatchTimeInterval.milliseconds(50)

    private let task: URLSessionTask
    private var state = State.idle

    init(_ task: URLSessionTask) {
        self.task = task
    }

    /// Resumes the task. `completion` is called once, when the task has ended, with its error.
    func begin(_ completion: @escaping Completion) {
        Self.queue.async { [self] in
            let timer = DispatchSource.makeTimerSource(queue: Self.queue)
            timer.schedule(deadline: .now(), repeating: Self.interval, leeway: Self.interval)
            timer.setEventHandler { [self] in
                if task.state == .completed { end(with: task.error) }
            }
            state = .watching(timer, completion)
            (task.delegate as? SessionDelegate)?.add(self, for: task)
            timer.activate()
            task.resume()
        }
    }

    /// Cancels the task, whether it was begun or not.
    func cancel() {
        Self.queue.async { [self] in task.cancel() }
    }

    private func end(with error: (any Error)?) {
        switch state {
        case .idle, .over: break
        case .watching(let timer, let completion): finish(timer) { completion(error) }
        case .refused(let timer, let completion): finish(timer) { completion(nil) }
        }
    }

    private func finish(_ timer: any DispatchSourceTimer, tell: () -> Void) {
        state = .over
        timer.cancel()
        (task.delegate as? SessionDelegate)?.removeListener(of: task)
        tell()
    }
}

extension TaskWatch: TaskListener {
    func task(_ task: URLSessionTask, received response: URLResponse) {}
    func task(_ task: URLSessionTask, received data: Data) {}
    func task(_ task: URLSessionTask, sent count: Int64, of total: Int64) {}
    func taskLostItsBody(_ task: URLSessionTask) {}

    func task(_ task: URLSessionTask, redirectedTo request: URLRequest, go: @escaping @Sendable (URLRequest?) -> Void) {
        Self.queue.async { if task.state == .running { go(request) } }
    }

    func task(_ task: URLSessionTask, challenged challenge: URLAuthenticationChallenge, answer: @escaping SessionDelegate.Answer) {
        Self.queue.async { [self] in
            if case .watching(let timer, let completion) = state, task.state == .running {
                state = .refused(timer, completion)
            }
            answer(.cancelAuthenticationChallenge, nil)
        }
    }

    func task(_ task: URLSessionTask, endedWith error: (any Error)?) {
        Self.queue.async { [self] in end(with: error) }
    }
}
