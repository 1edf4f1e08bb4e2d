import Foundation

/// Puts what belongs to the delivery nets of a group's children into their list, at its place.
///
/// Linear in members and connections, and iterative.
struct NetArrangement {
    private let listed: [Foundation.Operation]
    private let listedKeys: Set<ObjectIdentifier>
    /// Whether a listed producer is moved before a listed receiver.
    private let movesListed: Bool
    /// Members of nets, producers before their receivers.
    private var members: [AOperation] = []
    private var places: [ObjectIdentifier: Int] = [:]
    private var before: [[Int]] = []
    private var after: [[Int]] = []

    init(_ listed: [Foundation.Operation], movesListed: Bool) {
        self.listed = listed
        listedKeys = Set(listed.map { ObjectIdentifier($0) })
        self.movesListed = movesListed
    }

    func knows(_ operation: Foundation.Operation) -> Bool { places[ObjectIdentifier(operation)] != nil }

    /// A net, or a child that belongs to none. Members that are known already are left where they are.
    mutating func add(_ net: [Foundation.Operation]) {
        for case let member as AOperation in net where !knows(member) {
            places[ObjectIdentifier(member)] = members.count
            members.append(member)
            before.append([])
            after.append([])
        }
    }

    /// What the members wait for, once all are known.
    ///
    /// - Parameter needs: producers of a member, or of what is in it, and what else it waits for. The latter moves nothing
    ///   that is listed before something else that is.
    mutating func connect(_ needs: (AOperation) -> (producers: [AOperation], others: [AOperation])) {
        for (place, member) in members.enumerated() {
            let (producers, others) = needs(member)
            var found = Set(producers.compactMap { places[ObjectIdentifier($0)] })
            for other in others.compactMap({ places[ObjectIdentifier($0)] }) where !(isListed(place) && isListed(other)) {
                found.insert(other)
            }
            for need in found.sorted() where need != place {
                before[place].append(need)
                after[need].append(place)
            }
        }
    }

    private func isListed(_ place: Int) -> Bool { listedKeys.contains(ObjectIdentifier(members[place])) }

    func arranged() -> [Foundation.Operation] {
        var arranging = Arranging(self)
        for operation in listed {
            if let place = places[ObjectIdentifier(operation)] { arranging.put(place) } else { arranging.list.append(operation) }
        }
        for place in members.indices { arranging.put(place) }  // those whose producers are all from outside, and circles
        return arranging.list
    }

    private struct Arranging {
        private enum Step {
            case visit(Int)
            case put(Int)
        }

        var list: [Foundation.Operation] = []
        private let nets: NetArrangement
        private let isListed: [Bool]
        private var isPut: [Bool]
        private var isVisited: [Bool]
        /// How many of its producers have no place yet.
        private var missing: [Int]

        init(_ nets: NetArrangement) {
            self.nets = nets
            isListed = nets.members.indices.map { nets.isListed($0) }
            isPut = nets.members.map { _ in false }
            isVisited = isPut
            missing = nets.before.map(\.count)
        }

        /// Puts a member, behind what it needs, and before what only waits for it.
        mutating func put(_ place: Int) {
            var pending: [Step] = [.visit(place)]
            while let step = pending.popLast() {
                switch step {
                case .visit(let member):
                    guard !isVisited[member] else { continue }
                    isVisited[member] = true
                    pending.append(.put(member))
                    pending += nets.before[member].reversed().filter { nets.movesListed || !isListed[$0] }.map { .visit($0) }
                case .put(let member):
                    guard !isPut[member] else { continue }
                    isPut[member] = true
                    list.append(nets.members[member])
                    for receiver in nets.after[member].reversed() {
                        missing[receiver] -= 1
                        if missing[receiver] == 0, !isListed[receiver] { pending.append(.visit(receiver)) }
                    }
                }
            }
        }
    }
}
