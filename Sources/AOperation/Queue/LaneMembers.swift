/// The members of a lane. Coming and leaving are constant-time and need no hashing.
struct LaneMembers {
    private struct Place {
        /// Rises with every member.
        var serial: UInt64
        /// Nil while the place is free.
        var member: LaneMember?
    }

    private var places: [Place] = []
    private var free: [Int] = []
    private var nextSerial: UInt64 = 0
    /// Memory for fewer places than this is kept when the lane is empty.
    private static let placesKept = 1_024

    var isEmpty: Bool { free.count == places.count }

    /// How many places there are, free ones included.
    var placeCount: Int { places.count }

    /// Takes a member in; returns its place, which is its own until it leaves.
    mutating func insert(_ member: LaneMember) -> Int {
        let place = Place(serial: nextSerial, member: member)
        nextSerial += 1
        guard let index = free.popLast() else {
            places.append(place)
            return places.count - 1
        }
        places[index] = place
        return index
    }

    mutating func remove(at index: Int) {
        places[index].member = nil
        free.append(index)
        if isEmpty, places.count > Self.placesKept {
            places = []
            free = []
        }
    }

    /// In the order in which they came.
    var inOrder: [LaneMember] {
        places.filter { $0.member != nil }.sorted { $0.serial < $1.serial }.compactMap(\.member)
    }
}
