/// How the wait grows from one attempt to the next. The standard one is exponential from one second, capped at 60, with
/// full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
public struct Backoff: Hashable, Sendable {
    /// The raw values are those of the wire and of the journal.
    public enum Kind: UInt8, Hashable, Sendable {
        /// `initial`, then each time `factorPermille` thousandths of the last wait.
        case exponential = 0
        /// `initial` each time.
        case constant = 1
        /// Once, twice, three times `initial`, and so on.
        case linear = 2
        /// `initial` times 1, 1, 2, 3, 5, and so on.
        case fibonacci = 3
    }
    public var kind: Kind
    public var initialMilliseconds: Int64
    /// No wait is longer.
    public var maxMilliseconds: Int64
    /// By how many thousandths of itself, at most, a wait is made shorter at random: from 0 to 1000.
    public var jitterPermille: Int
    /// By how many thousandths an exponential wait is multiplied each time.
    public var factorPermille: Int

    /// From 1, as a wait never becomes shorter, to 1000 times the last one.
    static let factors = 1_000...1_000_000

    public init(
        kind: Kind = .exponential, initialMilliseconds: Int64 = 1_000, maxMilliseconds: Int64 = 60_000, jitterPermille: Int = 1_000,
        factorPermille: Int = 2_000
    ) {
        self.kind = kind
        self.initialMilliseconds = initialMilliseconds
        self.maxMilliseconds = maxMilliseconds
        self.jitterPermille = jitterPermille
        self.factorPermille = factorPermille
    }

    public static let standard = Backoff()

    /// The wait before another attempt. The jitter is drawn from the unit's identity, so that a journal folded again gives
    /// the same times.
    ///
    /// - Parameter failedAttempts: from 1.
    func delayMilliseconds(of unit: UnitID, failedAttempts: Int) -> Int64 {
        let longest = min(untilJitter(failedAttempts), maxMilliseconds)
        let shortest = longest - Int64(Self.product(longest, Int64(jitterPermille)) / 1_000)
        var generator = SplitMix64(seed: unit.rawValue &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(failedAttempts))
        return shortest + Int64(generator.next() % UInt64(longest - shortest + 1))
    }

    /// Before `maxMilliseconds` and jitter.
    private func untilJitter(_ failedAttempts: Int) -> Int64 {
        switch kind {
        case .constant: initialMilliseconds
        case .linear: Self.product(initialMilliseconds, Int64(failedAttempts))
        case .exponential: grown(failedAttempts - 1)
        case .fibonacci: Self.product(initialMilliseconds, Self.fibonacci(failedAttempts))
        }
    }

    /// Ends as soon as the longest wait is reached. Products of doubles are the same on every machine (IEEE 754).
    private func grown(_ times: Int) -> Int64 {
        var (wait, left) = (Double(initialMilliseconds), factorPermille > 1_000 && initialMilliseconds > 0 ? times : 0)
        while left > 0, wait < Double(maxMilliseconds) {
            wait *= Double(factorPermille) / 1_000
            left -= 1
        }
        return wait < Double(maxMilliseconds) ? Int64(wait) : maxMilliseconds
    }

    /// 1, 1, 2, 3, 5, …, up to the largest that 64 bits hold.
    private static func fibonacci(_ index: Int) -> Int64 {
        var (last, next): (Int64, Int64) = (0, 1)
        for _ in 1..<min(max(index, 1), 92) { (last, next) = (next, last + next) }
        return next
    }

    private static func product(_ one: Int64, _ other: Int64) -> Int64 {
        let (product, overflows) = one.multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }
}

/// A failure that is worth another attempt.
public enum RetryReason: Hashable, Sendable {
    /// Of a command.
    case exitCode(Int32)
    /// Of a command that a signal ended.
    case signal(Int32)
    /// The name of a failure's code, or the type of the error.
    case error(String)

    func fits(_ failure: Failure) -> Bool {
        switch self {
        case .exitCode(let code): failure.exitCode == code
        case .signal(let number): failure.signal == number
        case .error(let name): failure.code.name == name || failure.typeName == name
        }
    }
}
