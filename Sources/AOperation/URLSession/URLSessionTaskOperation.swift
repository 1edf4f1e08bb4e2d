import Foundation

/// Loads over the network: makes the operations that do, and is itself one around a task that you have made.
///
/// ```swift
/// URLSessionTaskOperation.data(for: url)                       // (data:, response:)
///     .deliver(to: ServicesErrorHandleOperation())
///     .deliver(to: JSONDecoderOperation<User>())
///     .didFinish { result in … }
///     .add(to: queue)
///
/// let login = URLSessionTaskOperation(task: session.dataTask(with: request) { data, _, _ in … })
/// persist.addDependency(login)
/// ```
/// Around a task: the operation resumes it, ends when the task has ended, cancels it when it is cancelled, and fails
/// with the task's `URLError`. It carries no value: what the task loads is told to the task's completion handler,
/// before the operation ends. A task runs once, so the operation cannot be tried again.
///
/// The end of a task in a session of the library's (``Session/urlSession``) is heard at once. In other sessions, and
/// for tasks with a completion handler, it is noticed within a tenth of a second.
///
/// `@unchecked Sendable`: it adds nothing that changes.
public final class URLSessionTaskOperation: VoidOperation, @unchecked Sendable {
    private let task: URLSessionTask
    private let watch: TaskWatch

    /// An operation around `task`, which should not have been resumed; from now on it is for the operation to resume
    /// and to cancel it. If the operation never runs, and is not cancelled, the task is left as it is.
    public init(task: URLSessionTask) {
        self.task = task
        watch = TaskWatch(task)
        super.init()
    }

    public override func execute() {
        let url = task.originalRequest?.url
        watch.begin { [self] error in
            finish(error.map { AOperationError(URLError.ofTask($0, loading: url)) })
        }
    }

    public override func cancel() {
        super.cancel()
        watch.cancel()
    }
}
