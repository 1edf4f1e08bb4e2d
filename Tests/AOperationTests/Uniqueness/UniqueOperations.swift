import Foundation

@testable import AOperation

/// Succeeds at once; unique.
final class UniqueStep: VoidOperation, UniqueOperation, @unchecked Sendable {
    let uniqueId: String
    private let body: @Sendable () -> Void
    init(_ id: String, _ body: @escaping @Sendable () -> Void = {}) {
        uniqueId = id
        self.body = body
        super.init()
    }
    override func execute() {
        body()
        finish()
    }
}

/// Runs until it is opened; unique.
final class UniqueGate: ResultableOperation<Int>, UniqueOperation, @unchecked Sendable {
    let uniqueId: String
    let onDuplicate: DuplicatePolicy
    let started = Signal()

    init(_ id: String, _ name: String = "UniqueGate", onDuplicate: DuplicatePolicy = .ignore) {
        uniqueId = id
        self.onDuplicate = onDuplicate
        super.init()
        self.name = name
    }
    override func execute() { started.fire() }
    func open(_ value: Int = 0) { finish(with: .success(value)) }
}

/// Receives and passes on; unique.
final class UniquePass: ResultableOperation<Int>, ReceiverOperation, UniqueOperation, @unchecked Sendable {
    let uniqueId: String
    let onDuplicate: DuplicatePolicy
    var receivedValue: Result<Int, AOperationError>?

    init(_ id: String, onDuplicate: DuplicatePolicy = .ignore) {
        uniqueId = id
        self.onDuplicate = onDuplicate
        super.init()
    }
    override func execute() { finish(with: receivedValue ?? .success(0)) }
}

/// A group with an id.
final class UniqueGroup: GroupOperation, UniqueOperation, @unchecked Sendable {
    let uniqueId: String
    let onDuplicate: DuplicatePolicy

    init(_ id: String, onDuplicate: DuplicatePolicy = .ignore, _ operations: [Foundation.Operation]) {
        uniqueId = id
        self.onDuplicate = onDuplicate
        super.init(operations)
    }
}
