/// A set of classes, by number.
struct LaneSet {
    private var flags: [Bool] = []

    func contains(_ lane: Int) -> Bool { lane < flags.count && flags[lane] }

    mutating func insert(_ lane: Int) {
        while flags.count <= lane { flags.append(false) }
        flags[lane] = true
    }

    /// Ascending.
    var lanes: [Int] { flags.indices.filter { flags[$0] } }
}
