import Foundation

/// A group that adds children as others end, and decides so on any worker of a cluster.
///
/// ```swift
/// final class BuildOrSkip: GroupOperation, ClusterGroup, @unchecked Sendable {
///     struct Parameters: Codable, Sendable { var project: String }
///     let parameters: Parameters
///
///     init(_ parameters: Parameters) {
///         self.parameters = parameters
///         super.init([CheckCache(.init(project: parameters.project))])
///     }
///
///     override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
///         guard let check = operation as? CheckCache, let answer = try? check.result?.get() else { return }
///         addOperation(answer.isFresh ? Skip() : Build(.init(project: parameters.project)))
///     }
/// }
/// ```
/// In a queue of this process it is a group as any other. In a graph that a ``GroupOperation`` of its kind is part of on a
/// cluster its children run wherever they can, and each time that one of them has ended (``decidesAfter``) the group is made
/// again from its ``ClusterOperation/parameters`` on a worker that has registered it, as it registers operations. The child is
/// made again, too: of that the parameters, `result` and `errors` are known, and its path (``AOperation/clusterPath``), nothing
/// else. Then `operationDidFinish(_:withErrors:)` is called, and what that adds until it returns becomes part of the graph, as a
/// whole, together with ``state``. What was decided by a worker that is lost before the coordinator has it on its disk has not
/// been decided: another one does it again. So let `operationDidFinish` do nothing but decide.
///
/// The children that its `init` gives it are those that it begins with; they are taken once, by the process that submits it.
///
/// An ``OperationSequence`` can be one, too: ``OperationSequence/nextOperation(after:)`` is asked in the same way, when it begins and
/// after each step. Its `operationDidFinish` is not called, in no queue, and ``decidesAfter`` says nothing. What it remembers from
/// step to step is its ``state``; ``LinearSequence`` and ``RetrySequence`` know how far they have come. A ``RepeatOperation`` is always
/// decided by the process that submits it.
public protocol ClusterGroup: GroupOperation, ClusterOperation {
    /// What the group remembers from one decision to the next; by default nothing.
    associatedtype State: Codable, Sendable = NoGroupState

    /// What it remembers: as its `init` sets it before the first decision. On a cluster it is written down with each decision,
    /// as JSON, of less than 64 KiB, and set before the next.
    var state: State { get set }

    /// After which ends of children it decides; after each by default. Of others its `operationDidFinish` is not told, in no
    /// queue.
    static var decidesAfter: DecisionOccasion { get }
}

/// When a ``ClusterGroup`` is asked what it does next.
public enum DecisionOccasion: Hashable, Sendable {
    /// After the end of each child.
    case eachChild
    /// After the failure of a child; not after its cancellation.
    case failures
    /// Never.
    case never
}

/// The state of a group that remembers nothing.
public struct NoGroupState: Codable, Hashable, Sendable {
    public init() {}
}

extension ClusterGroup where State == NoGroupState {
    public var state: NoGroupState {
        get { NoGroupState() }
        set {}
    }
}

extension ClusterGroup {
    public static var decidesAfter: DecisionOccasion { .eachChild }
}

/// A child that has ended, as a ``ClusterGroup`` that decides on a worker is told of it, where its own type cannot be: it is a
/// group, executes in the process that submitted the graph, or its type is not registered with that worker.
///
/// Its value is what it delivers, as it arrives: `value.decoded(as:)`.
public final class EndedOperation: ResultableOperation<EncodedValue>, @unchecked Sendable {
    /// The name under which workers have registered it; empty: it is a group.
    public let operationType: String

    /// Invariant behind `@unchecked Sendable`: it is constant.
    package init(operationType: String) {
        self.operationType = operationType
        super.init()
    }
}

extension AOperation {
    /// The path, in its submission, of an operation that was made again after its end: one that `operationDidFinish` of a
    /// ``ClusterGroup`` is told of on a worker. Nil for all others.
    public final var clusterPath: String? { attachment(\.path) }
}

// MARK: - For a process that decides

extension ClusterGroup {
    /// The group as it was when it had decided last.
    package func restore(state data: Data) throws { state = try JSONForm.decode(State.self, from: .json(data)) }

    /// - Returns: nil if the group remembers nothing.
    package func encodedState() throws -> Data? {
        State.self == NoGroupState.self ? nil : try JSONForm.encode(state)
    }

    /// Asks a group that was made for nothing else what follows from the end of a child; a sequence: of a step, or from its begin.
    ///
    /// - Parameter number: of the decision, from 1.
    package func decide(after child: AOperation?, number: Int = 1) -> DecidedAdditions {
        becomeDecider()
        let capture = DecisionCapture(for: self)
        capture.collect {
            if let sequence = self as? OperationSequence {
                sequence.decide(number, after: child)
            } else if let child {
                operationDidFinish(child, withErrors: child.publishedErrors)
            }
        }
        return capture.close()
    }
}

extension AOperation {
    /// Makes a fresh operation one that has ended like this: what is known of it where it has not run.
    package final func recall(_ ending: RemoteEnding, path: String) {
        withAttachments { $0.path = path }
        guard becomeMirror(whenCancelled: { _ in }) else { return }
        remoteDidEnd(ending, hasStarted: false)
    }
}
