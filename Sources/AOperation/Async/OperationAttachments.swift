import Foundation

/// What few operations have, made when it is first needed: an operation without it pays one reference.
///
/// Invariant: its properties are only reached under the lock of the operation's core.
final class OperationAttachments {
    /// Where the operation's partial results go.
    var partialResults: PartialResultPort?
    /// Those who receive the partial results while it runs, until its outcome is decided.
    var streams: [StreamLink] = []
    /// From whom it receives them itself.
    var stream: StreamLink?
    /// Where the operation's progress goes.
    var progress: ProgressBoard?
    /// Who else is told of it: the process on whose behalf the operation runs here.
    var progressRelay: (@Sendable (OperationProgress) -> Void)?
    /// Who takes the lines that it writes, if it runs on somebody else's behalf.
    var logRelay: (@Sendable (String) -> Void)?
    /// When the operation reached its stages; only while the debugger asks for it.
    var trace: OperationTrace?
    /// When it is tried again, if that was said by a policy.
    var retryPolicy: RetryPolicy?
    /// Its body, if that is elsewhere.
    var remote: RemoteBody?
    /// Its path elsewhere, if it was made after its end there.
    var path: String?
    /// A group that another process has made, and that this one stands for.
    var isStandIn = false
    /// Of a group that runs elsewhere and is asked here what it does next.
    var decisions: DecisionDesk?
    /// Of a wrapper that runs elsewhere: what it makes here.
    var part: WrapperPart?
    /// Where its closures are called, if it comes to no queue: as those of who it was added to, or produced by.
    var callbackQueue: DispatchQueue?
    /// What it has produced, until it has succeeded.
    var produced: [Foundation.Operation] = []
    /// What it has produced elsewhere, until its listeners have been told of its start.
    var untold: [Foundation.Operation] = []
    /// Who is told of what it produces under an id, if it runs on somebody else's behalf.
    var productRelay: (@Sendable (Foundation.Operation, String) -> Void)?
    /// Under which ids it has produced something.
    var producedIDs: Set<String> = []
    /// What belonged with it when it was cancelled, if it was in no queue then.
    var lostNet: LostNet?
    /// How many of those who wait for the operation are known to have been cancelled.
    var disinterest = Disinterest()
    /// Who depends on it and is plain: they live until Foundation, which tells them but does not retain them, has heard of
    /// the end.
    var followers: [any Waiter] = []
    /// Plain operations that wait for it, and for which one of ours waits: ``AwaitedPlain``.
    var plainWaiters: [ObjectIdentifier: WaitingOperation] = [:]
    /// What its worker must have, and what it has of that worker's host.
    var requirements = WorkerRequirements()
    /// Whether it never runs again once it may have begun.
    var isAtMostOnce = false
    /// Whether it may run again without harm, also after it has succeeded.
    var isRecomputable = false
    /// How many processes of workers may die under it; nil: as usual.
    var crashLimit: Int?
    var assignedResources: [String: AssignedResource] = [:]
    /// What is to be so while its body is called: calls what it is given, once.
    var surroundings: BodySurroundings?
}

/// Calls a body in what it needs around it, task-local values for example.
package typealias BodySurroundings = @Sendable (_ body: () -> Void) -> Void

extension OperationCore {
    /// What is attached, made if nothing is.
    mutating func attach() -> OperationAttachments {
        if let attachments { return attachments }
        let made = OperationAttachments()
        attachments = made
        return made
    }
}

extension AOperation {
    /// Lets `execute()` be called within `surroundings`, also as a part of a graph elsewhere. A task that is made there inherits its
    /// task-local values. Before the operation is added to a queue.
    package final func surroundBody(_ surroundings: @escaping BodySurroundings) {
        withAttachments { $0.surroundings = surroundings }
    }

    /// Calls `body` in what surrounds it.
    final func surrounded(_ body: () -> Void) {
        if let surroundings = attachment(\.surroundings) { surroundings(body) } else { body() }
    }

    /// Reads or changes what is attached to the operation, under its lock.
    final func withAttachments<Result>(_ body: (OperationAttachments) -> Result) -> Result {
        core.withLock { body($0.attach()) }
    }

    /// What is attached, if anything is.
    final func attachment<Attachment>(_ read: (OperationAttachments) -> Attachment?) -> Attachment? {
        core.withLock { $0.attachments.flatMap(read) }
    }
}
