import Foundation

/// The work of an ``AOperationBlock``: it calls the closure it is given when it is done.
public typealias OperationBlock = @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void

/// An operation whose work is a closure.
///
/// ```swift
/// AOperationBlock { finish in upload { finish() } }     // on any thread; ends when finish is called
/// AOperationBlock { view.reload() }                     // on the main queue; ends when it returns
/// ```
/// The second form needs a running main loop; nothing else in the library does.
///
/// Invariant behind `@unchecked Sendable`: the closure is constant.
public final class AOperationBlock: VoidOperation, @unchecked Sendable {
    private let block: OperationBlock?

    /// An operation that runs `block` on one of its queue's threads; without a block it succeeds at once.
    public init(block: OperationBlock? = nil) {
        self.block = block
        super.init()
    }

    /// An operation that runs `mainQueueBlock` on the main queue.
    public convenience init(mainQueueBlock: @escaping @MainActor @Sendable () -> Void) {
        self.init { finish in
            DispatchQueue.main.async {
                mainQueueBlock()
                finish()
            }
        }
    }

    public override func execute() {
        guard let block else { return finish() }
        block { [self] in finish() }
    }
}
