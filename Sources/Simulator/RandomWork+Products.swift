import Scheduling
import Wire

/// What operations produce under ids of their own, which are once in their group.
extension RandomWork {
    struct Product {
        let id: String
        let addition: WireAddition
        let afterMilliseconds: Int64
    }

    private static let productIDs = ["x0", "x1", "x2"]

    func addProducts(to body: inout Body, using random: inout SimulationRandom) {
        guard features.contains(.products), random.oneIn(4) else { return }
        for id in Self.productIDs where random.oneIn(2) {
            let after = random.below(body.milliseconds + 1)
            body.products.append(Product(id: id, addition: product(id, using: &random), afterMilliseconds: after))
        }
    }

    /// An operation, or a group of two; under a lock, which may be held around it already.
    private func product(_ id: String, using random: inout SimulationRandom) -> WireAddition {
        let key = random.oneIn(4) ? random.pick(Self.keys) : nil
        return .with {
            $0.id = id
            $0.graph.parameters = [.init("{}".utf8)]
            $0.graph.nodes = [.with { $0.group = .init() }]
            let isGroup = key == nil && random.oneIn(4)
            if isGroup {
                $0.graph.nodes.append(
                    .with {
                        $0.id = "made"
                        $0.group = .init()
                    })
            }
            for number in 0..<(isGroup ? 2 : 1) {
                $0.graph.nodes.append(
                    .with {
                        $0.id = "made\(number)"
                        $0.parent = isGroup ? 1 : 0
                        $0.operation.type = Self.operation
                        guard let key else { return }
                        $0.exclusive = [
                            .with {
                                $0.key = key
                                $0.limit = UInt32(Self.limit(of: key))
                            }
                        ]
                    })
            }
            $0.products = [1]
        }
    }
}
