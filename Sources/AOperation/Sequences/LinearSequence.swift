import Foundation

/// A sequence whose steps are known in number: each is made from the one before, and only if that succeeded.
///
/// ```swift
/// LinearSequence([
///     { _ in Repositories(of: "me") },
///     { previous in
///         guard let repositories = previous?.value(as: [Repository].self) else { return nil }
///         return GroupOperation(repositories.map { Issues(of: $0) })
///     },
/// ])
/// ```
/// It ends with the first step that fails or is cancelled, with a step that is nil, or with the last one. A subclass
/// may override ``steps`` in place of giving them to `init`.
///
/// Invariant behind `@unchecked Sendable`: `list` is constant.
open class LinearSequence: OperationSequence, @unchecked Sendable {
    /// Makes a step from the one before, which has succeeded; the first one from nil. Nil ends the sequence.
    public typealias Step = @Sendable (_ previous: AOperation?) -> AOperation?

    private let list: [Step]

    /// - Parameters:
    ///   - steps: in their order.
    ///   - wait: how long to wait before the second step, the third, and so on; not at all by default.
    public init(_ steps: [Step] = [], wait: WaitStrategy = .immediate) {
        list = steps
        super.init(wait: wait)
    }

    /// The steps, in their order.
    open var steps: [Step] { list }

    public final override func nextOperation(after previous: AOperation?) -> AOperation? {
        if let previous {
            guard case .success = previous.ending else { return nil }
        }
        let (steps, index) = (steps, stepsBegun)
        return index < steps.count ? steps[index](previous) : nil
    }
}
