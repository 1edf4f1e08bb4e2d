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

    /// A whole net, each member after those it receives from. Members that are known already are left where they are: a
    /// child that has ended before is found from itself only, with neighbours that others have led to.
    mutating func add(_ net: [Foundation.Operation], producers: (AOperation) -> [AOperation]) {
        let new = net.compactMap { $0 as? AOperation }.filter { !knows($0) }
        for member in new {
            places[ObjectIdentifier(member)] = members.count
            members.append(member)
            before.append([])
            after.append([])
        }
        for member in new {
            guard let place = places[ObjectIdentifier(member)] else { continue }
            for producer in Set(producers(member).compactMap { places[ObjectIdentifier($0)] }).sorted() where producer != place {
                before[place].append(producer)
                after[producer].append(place)
            }
        }
    }

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
            isListed = nets.members.map { nets.listedKeys.contains(ObjectIdentifier($0)) }
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
