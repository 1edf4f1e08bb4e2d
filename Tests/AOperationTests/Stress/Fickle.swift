import Foundation

@testable import AOperation

/// What one attempt does.
enum Whim: CaseIterable {
    case succeed, fail, succeedLater, failLater
    /// Four threads report, each something else.
    case reportFromManyThreads
    /// Nothing, until it is stopped.
    case waitForTheEnd
    /// The same, and reports a moment later.
    case waitBeyondTheEnd
    /// Produces another operation, and fails.
    case produce
    case cancelItself
    case cancelItselfFromElsewhere
}

/// What the attempts of one operation do, one after another, and what is known of them.
final class Whims: Sendable {
    let name: String
    let problems: Log<String>
    /// Who holds the same lock is in.
    let gauge: Gauge?
    /// Every attempt that was made.
    let made = Log<Weak<AOperation>>()
    private let left: Guarded<Backlog<Whim>>
    private let receives = Guarded(false)

    init(_ name: String, _ whims: [Whim], gauge: Gauge? = nil, problems: Log<String>) {
        (self.name, self.gauge, self.problems) = (name, gauge, problems)
        var left = Backlog<Whim>()
        for whim in whims { left.append(whim) }
        self.left = Guarded(left)
    }

    /// Two thirds of what is drawn leads to another attempt, if one is asked for.
    convenience init(_ name: String, gauge: Gauge? = nil, problems: Log<String>, by random: inout SeededGenerator) {
        let count = Int.random(in: 1...3, using: &random)
        let whims = (0..<count).map { _ in
            switch Int.random(in: 0...2, using: &random) {
            case 0: Whim.fail
            case 1: Whim.failLater
            default: Whim.allCases.randomElement(using: &random) ?? .succeed
            }
        }
        self.init(name, whims, gauge: gauge, problems: problems)
    }

    func next() -> Whim { left.withLock { $0.popFirst() } ?? .succeed }

    /// It must be given something, in every attempt.
    var mustReceive: Bool {
        get { receives.withLock { $0 } }
        set { receives.withLock { $0 = newValue } }
    }
}

/// Does something else in each attempt.
class Fickle: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
    var receivedValue: Result<Int, AOperationError>?
    let whims: Whims
    private let stage = Guarded<(whim: Whim?, isStopped: Bool)>((nil, false))

    required init(_ whims: Whims) {
        self.whims = whims
        super.init()
        name = whims.name
        whims.made.append(Weak(self))
    }

    func new() -> Self { Self(whims) }

    override func execute() {
        if whims.mustReceive, receivedValue == nil { whims.problems.append("\(whims.name) has received nothing") }
        let whim = whims.next()
        let isStopped = stage.withLock { stage in
            stage.whim = whim
            return stage.isStopped
        }
        whims.gauge?.enter()
        whims.gauge?.leave()
        switch whim {
        case .succeed: finish(with: .success(0))
        case .fail: fail(0)
        case .succeedLater: DispatchQueue.global().async { self.finish(with: .success(1)) }
        case .failLater: DispatchQueue.global().async { self.fail(1) }
        case .reportFromManyThreads:
            for number in 0..<4 {
                DispatchQueue.global().async {
                    if number.isMultiple(of: 2) { self.finish(with: .success(number)) } else { self.fail(number) }
                }
            }
        case .waitForTheEnd, .waitBeyondTheEnd: if isStopped { stop(whim) }
        case .produce:
            produce(Step("produced"))
            fail(2)
        case .cancelItself:
            cancel()
            finish(with: .success(2))
        case .cancelItselfFromElsewhere:
            DispatchQueue.global().async { self.cancel() }
            finish(with: .success(3))
        }
    }

    private func fail(_ number: Int) { finish(with: .failure(AOperationError(Failed(text: "\(whims.name) \(number)")))) }

    private func stop(_ whim: Whim?) {
        switch whim {
        case .waitForTheEnd: finish(with: .success(4))
        case .waitBeyondTheEnd: DispatchQueue.global().async { self.finish(with: .success(5)) }
        default: break
        }
    }

    override func cancel() {
        super.cancel()
        let whim = stage.withLock { stage -> Whim? in
            guard !stage.isStopped else { return nil }
            stage.isStopped = true
            return stage.whim
        }
        stop(whim)
    }
}

/// The same, unique by its name; a second one joins the first.
final class UniqueFickle: Fickle, UniqueOperation, @unchecked Sendable {
    var uniqueId: String { whims.name }
    var onDuplicate: DuplicatePolicy { .join }
}
