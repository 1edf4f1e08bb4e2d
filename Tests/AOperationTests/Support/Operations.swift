import Foundation

@testable import AOperation

/// Succeeds at once with a value.
final class Value<Output: Sendable>: ResultableOperation<Output>, @unchecked Sendable {
    private let value: Output
    init(_ value: Output, name: String? = nil) {
        self.value = value
        super.init()
        if let name { self.name = name }
    }
    override func execute() { finish(with: .success(value)) }
}

struct Failed: LocalizedError, Equatable {
    let text: String
    var errorDescription: String? { text }
}

/// Fails at once.
final class Failing<Output>: ResultableOperation<Output>, @unchecked Sendable {
    private let text: String
    init(_ text: String) {
        self.text = text
        super.init()
        name = text
    }
    override func execute() { finish(with: .failure(AOperationError(Failed(text: text)))) }
}

/// Runs until it is opened; ends its body when it is cancelled, unless it is deaf to that.
final class Gate: VoidOperation, @unchecked Sendable {
    let started = Signal()
    private let isDeaf: Bool

    init(_ name: String = "Gate", isDeaf: Bool = false) {
        self.isDeaf = isDeaf
        super.init()
        self.name = name
    }

    override func execute() {
        started.fire()
        if !isDeaf, isCancelled { finish() }
    }

    override func cancel() {
        super.cancel()
        if !isDeaf, started.hasFired { finish() }
    }

    func open() { finish() }
}

/// Calls a closure, then succeeds.
final class Step: VoidOperation, @unchecked Sendable {
    private let body: @Sendable () -> Void
    init(_ name: String = "Step", _ body: @escaping @Sendable () -> Void = {}) {
        self.body = body
        super.init()
        self.name = name
    }
    override func execute() {
        body()
        finish()
    }
}

/// Keeps what it receives as its result.
final class Keep<Input>: ResultableOperation<Result<Input, AOperationError>?>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<Input, AOperationError>?
    override func execute() { finish(with: .success(receivedValue)) }
}

/// Forwards what it receives.
final class PassOn<Input>: ResultableOperation<Input>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<Input, AOperationError>?
    override func execute() { finish(with: receivedValue ?? .failure(.receivedValueIsNil(in: self))) }
}
