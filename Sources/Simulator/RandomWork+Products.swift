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

    /// An operation, or a group of two.
    private func product(_ id: String, using random: inout SimulationRandom) -> WireAddition {
        let isGroup = random.oneIn(4)
        return .with {
            $0.id = id
            $0.graph.parameters = [.init("{}".utf8)]
            $0.graph.nodes = [.with { $0.group = .init() }]
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
                    })
            }
            $0.products = [1]
        }
    }
}
