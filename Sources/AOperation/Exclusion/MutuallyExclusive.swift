/// Operations with this condition exclude each other: one lock for each `T`. It always holds.
///
/// ```swift
/// enum Database {}
/// migrate.conditions(MutuallyExclusive<Database>())
/// ```
public struct MutuallyExclusive<T>: AOperationCondition, LockCondition {
    public static var isMutuallyExclusive: Bool { true }

    private let limit: Int

    /// - Parameter limit: how many may run at once.
    public init(limit: Int = 1) {
        self.limit = limit
    }

    public var exclusion: MutualExclusion? { MutualExclusion(key: String(reflecting: Self.self), limit: limit) }
}

/// The older name of ``MutuallyExclusive``.
public typealias MutualExclusive<T> = MutuallyExclusive<T>

/// The lock of those who show something modal.
public enum Alert {}

/// One alert at a time.
public typealias AlertPresentation = MutuallyExclusive<Alert>
