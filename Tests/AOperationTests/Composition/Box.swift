@testable import AOperation

/// Something that is known later than those who refer to it.
final class Box<Content>: Sendable {
    private let content = Guarded<Content?>(nil)
    var value: Content? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

/// Fails a number of times, then succeeds: every `new()` is one attempt further.
final class Attempt: ResultableOperation<Int>, RetryableOperation, @unchecked Sendable {
    private let number: Int
    private let succeedsAt: Int

    init(number: Int = 1, succeedsAt: Int) {
        self.number = number
        self.succeedsAt = succeedsAt
        super.init()
        name = "attempt \(number)"
    }

    func new() -> Attempt { Attempt(number: number + 1, succeedsAt: succeedsAt) }

    override func execute() {
        if number >= succeedsAt {
            finish(with: .success(number))
        } else {
            finish(with: .failure(AOperationError(Failed(text: "\(number)"))))
        }
    }
}

extension GroupOperation {
    /// The texts of the errors, in order.
    var errorTexts: [String] { publishedErrors.map(\.localizedDescription) }
}
