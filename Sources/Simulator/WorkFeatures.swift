/// What graphs of a run have besides what all have. Each seed draws its own: what few graphs have would dilute what most have.
public struct WorkFeatures: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Hosts offer what is counted, and operations take some of it.
    public static let resources = WorkFeatures(rawValue: 1 << 0)
    /// Conditions are made of others, and have dependent operations.
    public static let conditions = WorkFeatures(rawValue: 1 << 1)
    /// There are times of day and rates at which things may start.
    public static let times = WorkFeatures(rawValue: 1 << 2)
    /// Operations produce others under ids of their own.
    public static let products = WorkFeatures(rawValue: 1 << 3)
    /// What has ended is forgotten while the run goes on.
    public static let retention = WorkFeatures(rawValue: 1 << 4)

    /// Some values are files beside the journal.
    public static let files = WorkFeatures(rawValue: 1 << 5)

    public static let names: [(feature: WorkFeatures, name: String)] = [
        (.resources, "resources"), (.conditions, "conditions"), (.times, "times"), (.products, "products"), (.retention, "retention"),
        (.files, "files"),
    ]

    static func draw(using random: inout SimulationRandom) -> WorkFeatures {
        var features: WorkFeatures = []
        for (feature, _) in names where feature != .files && random.oneIn(4) { features.insert(feature) }
        return features
    }
}

extension WorkFeatures: CustomStringConvertible {
    public var description: String { Self.names.filter { contains($0.feature) }.map(\.name).joined(separator: " ") }
}
