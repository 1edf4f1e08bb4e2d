import AOperation

/// Something that this process does when everything that it depends on has ended.
final class LocalStep: VoidOperation, @unchecked Sendable {
    /// Where they run.
    static let queue = AOperationQueue()

    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void = {}) {
        self.body = body
        super.init()
    }

    override func execute() {
        body()
        finish()
    }
}
