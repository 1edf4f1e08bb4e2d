import AOperation
import Foundation
import Wire

extension ConditionManifest {
    /// The condition, which is made of no others, as a node says it, and the parameters of one that workers evaluate.
    package func wire() throws -> (WireCondition.OneOf_Kind, parameters: Data?) {
        switch kind {
        case .noFailedDependencies: (.noFailedDependencies(.init()), nil)
        case .noCancelledDependencies: (.noCancelledDependencies(.init()), nil)
        case .reachable(let url, let waits):
            (
                .probe(
                    .with {
                        $0.type = "reachable"
                        $0.wait = waits
                    }), try JSONEncoder().encode(["url": url.absoluteString])
            )
        case .hosted(let condition):
            (
                .probe(
                    .with {
                        $0.type = condition.key
                        $0.hosted = true
                    }), Data("{}".utf8)
            )
        case .composed: preconditionFailure("what conditions are made of is written by the builder of the graph, part by part")
        case .registered(let condition): (.probe(.with { $0.type = type(of: condition).conditionName }), try condition.encoded())
        }
    }
}

/// What an operation asks for, as its node says it.
extension WireNode {
    package mutating func take(_ manifest: OperationManifest) {
        if case .group(let group) = manifest.body {
            self.group = .with {
                $0.ordered = group.isOrdered
                $0.stopOnFailure = group.stopsOnFailure
                $0.maxConcurrent = group.maxConcurrent.map { UInt32(clamping: $0) } ?? 0
            }
        }
        if let retry = manifest.retry {
            take(retry)
            retriesNet = manifest.isEndOfNet
        }
        willFinish = manifest.holdsEnd
        retryOnFailure = manifest.decidesRetry
        var limits: [String: Int] = [:]
        for exclusion in manifest.exclusions { limits[exclusion.key] = min(exclusion.limit, limits[exclusion.key] ?? .max) }
        exclusive = limits.sorted { $0.key < $1.key }.map { key, limit in
            .with {
                $0.key = key
                $0.limit = UInt32(clamping: limit)
            }
        }
        let required = manifest.requirements
        if !required.labels.isEmpty || !required.resources.isEmpty {
            requires = .with {
                $0.labels = Set(required.labels).sorted()
                $0.resources = required.resources.sorted { $0.key < $1.key }.map { name, amount in
                    .with {
                        $0.name = name
                        // Negative ones are refused by the graph's builder.
                        $0.amount = UInt64(clamping: amount)
                    }
                }
            }
        }
        if manifest.isAtMostOnce { atMostOnce = true }
        if manifest.isRecomputable { recomputable = true }
        // Negative ones are refused as 0 is, by the coordinator.
        if let limit = manifest.crashLimit { crashLimit = UInt32(clamping: limit) }
        if let value = manifest.priority { priority = Int32(clamping: value) }
        if let unique = manifest.unique {
            self.unique = .with {
                $0.id = unique.id
                $0.join = unique.joins
                $0.output = unique.output
            }
        }
        if let timeout = manifest.timeout { timeoutMilliseconds = Self.milliseconds(timeout) }
        if let grace = manifest.grace { graceMilliseconds = UInt32(clamping: Self.milliseconds(grace)) }
        if let delay = manifest.delay, delay > .zero { delayMilliseconds = Self.milliseconds(delay) }
        if let date = manifest.notBefore { notBefore = Self.milliseconds(since1970: date) }
        if let limit = manifest.queueTimeout { queueTimeoutMilliseconds = Self.milliseconds(limit) }
        if let limit = manifest.deadline { deadlineMilliseconds = Self.milliseconds(limit) }
    }

    /// How long a step in the process of a submitter may take, other than to execute, if nothing else is said.
    package static let hostedTimeout = Duration.seconds(60)

    /// Whether something of it is done in the process that submits it.
    package var hasHostedSteps: Bool { hosted || willFinish || retryOnFailure || conditions.contains(where: \.probe.hosted) }

    /// The one place where a retry policy becomes part of a node.
    private mutating func take(_ policy: RetryPolicy) {
        retries = UInt32(clamping: max(1, policy.attempts) - 1)
        let (kind, initial): (WireBackoff.Kind, Duration) =
            switch policy.backoff {
            case .none: (.constant, .zero)
            case .constant(let wait): (.constant, wait)
            case .linear(let wait): (.linear, wait)
            case .exponential(let wait, _): (.exponential, wait)
            case .fibonacci(let wait): (.fibonacci, wait)
            }
        backoff = .with {
            $0.kind = kind
            $0.initialMilliseconds = Self.wait(initial)
            $0.maxMilliseconds = policy.cap.map { Self.wait($0) } ?? UInt64(UInt32.max)
            $0.jitterPermille = Self.permille(ofJitter: policy.jitter)
            if case .exponential(_, let factor) = policy.backoff { $0.factorPermille = Self.permille(factor) }
        }
    }

    /// From 0 to 1, whatever was set since the policy was made; of what is no number nothing.
    private static func permille(ofJitter jitter: Double) -> UInt32 {
        jitter > 0 ? UInt32((min(jitter, 1) * 1_000).rounded()) : 0
    }

    /// At least 1, as a wait never becomes shorter, also of what is no number; at most as much as a coordinator takes.
    private static func permille(_ factor: Double) -> UInt32 {
        factor > 1 ? UInt32((min(factor, 1_000) * 1_000).rounded()) : 1_000
    }

    /// As far as the wire says waits: 49 days.
    private static func wait(_ duration: Duration) -> UInt64 {
        duration <= .zero ? 0 : min(milliseconds(duration), UInt64(UInt32.max))
    }

    /// At least 1, as 0 says that there is no limit.
    private static func milliseconds(_ seconds: TimeInterval) -> UInt64 {
        UInt64(min(max(1, (seconds * 1_000).rounded(.up)), 1e15))
    }

    private static func milliseconds(_ duration: Duration) -> UInt64 { milliseconds(duration / .seconds(1)) }

    /// A date that never comes is the last one; one before 1970, or what is no number, is past.
    private static func milliseconds(since1970 date: Date) -> Int64 {
        Int64(min(max(0, date.timeIntervalSince1970 * 1_000), lastDate))
    }

    /// The end of the year 9999, in milliseconds since 1970: a coordinator takes no later date.
    private static let lastDate = 253_402_300_799_999.0
}

extension OperationGraph {
    /// Says how long steps in this process may take.
    mutating func limitHostedSteps(to limit: Duration) {
        let milliseconds = UInt64(min(max(1, limit / .milliseconds(1)), Double(UInt32.max)))
        for node in wire.nodes.indices where wire.nodes[node].hasHostedSteps {
            wire.nodes[node].hostedTimeoutMilliseconds = milliseconds
        }
    }
}
