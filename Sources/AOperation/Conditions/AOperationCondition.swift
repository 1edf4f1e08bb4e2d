/// Something that must hold before an operation is executed.
///
/// Conditions are evaluated when the operation's dependencies have ended and its locks are held, just before it would
/// be executed, anew for every attempt. All of them are evaluated; if any fails the operation is not executed and
/// fails with their errors, in the order of the conditions.
///
/// ```swift
/// struct UserAccess: AOperationCondition {
///     func evaluateForOperation(
///         _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
///     ) {
///         completion(User.current.hasAccess ? .success : .failure(AOperationError(AccessError.denied)))
///     }
/// }
/// ```
/// Every requirement has a default: no dependent operation, not exclusive, holds unless its dependent operation
/// failed.
public protocol AOperationCondition {
    /// Runs before the condition is evaluated; if it fails, the condition does (unless `evaluateForOperation` decides
    /// otherwise). Return a new operation each time it is asked for, or one that is a ``RetryableOperation``: each
    /// attempt needs its own.
    var dependentOperation: AOperation? { get }

    /// The name of the condition in errors: the unqualified name of its type unless it is overridden.
    static var key: String { get }

    /// Whether operations with this condition exclude each other, from before the dependent operation until their
    /// final end, in the whole process. The lock's name is the fully qualified name of the type, or ``key`` if that
    /// is overridden.
    static var isMutuallyExclusive: Bool { get }

    /// The lock that an operation with this condition holds; by default what ``isMutuallyExclusive`` says.
    var exclusion: MutualExclusion? { get }

    /// The dependent operation for `operation`; ``dependentOperation`` by default. Called once for every attempt.
    func dependencyForOperation(_ operation: AOperation) -> AOperation?

    /// Decides whether the condition holds: calls `completion` once, now or later, on any thread. What is reported
    /// after the first call, or after the operation was cancelled, is ignored.
    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void)
}

extension AOperationCondition {
    public var dependentOperation: AOperation? { nil }

    public static var key: String { String(describing: Self.self) }

    public static var isMutuallyExclusive: Bool { false }

    public var exclusion: MutualExclusion? {
        guard Self.isMutuallyExclusive else { return nil }
        let isKeyOverridden = Self.key != String(describing: Self.self)
        return MutualExclusion(key: isKeyOverridden ? Self.key : String(reflecting: Self.self))
    }

    public func dependencyForOperation(_ operation: AOperation) -> AOperation? { dependentOperation }

    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        guard let error = ConditionDependency.failure else { return completion(.success) }
        completion(.failure(error))
    }
}

/// What a condition decides.
public enum OperationConditionResult: Equatable, Sendable {
    /// It holds.
    case success
    /// It does not hold: the operation fails with this error, and is not executed.
    case failure(AOperationError)
    /// Not now: ask again after this time, at once if it is negative. The operation waits without a slot; `because` says
    /// for what.
    case retry(after: Duration, because: String)
    /// It does not hold, and that is no failure: the operation is cancelled.
    case ignored
}

/// Why the dependent operation of the condition that is being evaluated failed, for the default evaluation; nil: it did not.
enum ConditionDependency {
    @TaskLocal static var failure: AOperationError?
}

/// The prefix of the keys of older condition errors.
public let OperationConditionKey = "OperationCondition"

/// A condition that is nothing but a lock: it runs no code of its own.
protocol LockCondition: AOperationCondition {}
