/// What was measured of one workload at one size.
public struct WorkloadReport: Sendable {
    public var workload: Workload
    /// The size: operations that do work, groups and receivers not counted.
    public var count: Int
    /// How many measurements each figure is the median of.
    public var repeats: Int
    /// The first is the one that stands for the workload.
    public var variants: [VariantReport]
    /// Of chains: how long it takes to let one go.
    public var teardown: Teardown?
}

/// Both queues at the same work.
public struct VariantReport: Sendable {
    public var variant: Variant
    public var ours: Figures
    /// Of as many operations as ``Workload/foundationMaximum`` allows.
    public var foundation: Figures
    /// Our time per operation divided by Foundation's: the median over the pairs, each measured back to back.
    public var ratio: Double

    init(variant: Variant, ours: [Sample], foundation: [Sample]) {
        self.variant = variant
        self.ours = Figures(ours)
        self.foundation = Figures(foundation)
        let ratios = zip(ours, foundation).map { ours, foundation in
            ours.microsecondsPerOperation / foundation.microsecondsPerOperation
        }
        ratio = ratios.median ?? 0
    }
}

/// One queue's figures: medians.
public struct Figures: Sendable {
    /// Everything that was run, groups and receivers included.
    public var operations: Int
    public var microsecondsPerOperation: Double
    /// Processor time of the whole process.
    public var cpuMicrosecondsPerOperation: Double
    /// How much more memory than before was resident at the worst moment; nil where the system does not tell.
    public var peakBytes: Int?

    public var operationsPerSecond: Double { 1_000_000 / microsecondsPerOperation }

    init(_ samples: [Sample]) {
        operations = samples.first?.operations ?? 0
        microsecondsPerOperation = samples.map(\.microsecondsPerOperation).median ?? 0
        cpuMicrosecondsPerOperation = samples.map(\.cpuMicrosecondsPerOperation).median ?? 0
        peakBytes = samples.compactMap(\.peakBytes).median
    }
}

/// How long it takes to release a chain of our operations, in seconds. Foundation releases one recursively, and
/// overflows the stack when it is long.
public struct Teardown: Sendable {
    /// Of a chain that has run: an operation that has ended holds nobody.
    public var afterRun: Double
    /// Of a chain that was never added to a queue: every operation holds the one before.
    public var neverRun: Double
}

/// A queue did not do the work it was given, so that its figures say nothing.
public struct WrongResult: Error, CustomStringConvertible {
    public var description: String
}

extension Array where Element: Comparable {
    /// The middle one, or the greater of the middle two.
    var median: Element? { isEmpty ? nil : sorted()[count / 2] }
}
