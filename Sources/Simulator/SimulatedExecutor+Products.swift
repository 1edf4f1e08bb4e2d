import Executing
import Wire

/// What bodies produce under ids of their own while they run.
extension SimulatedExecutor {
    func beginProducts(_ number: Int, _ work: RandomWork.Body) {
        for product in work.products {
            world.put(.bodyProduces(self, body: number, product), at: now + product.afterMilliseconds)
        }
    }

    func bodyProduces(_ number: Int, _ product: RandomWork.Product) {
        turn { executor in
            // One that is about to end has nothing more to say.
            guard let body = executor.bodies[number], !body.isDue, !body.isStopped else { return }
            guard executor.products.put(product.addition, of: body.key) != nil else { return }
            world.note("\(executor.name) produces `\(product.id)` in \(body.assignment.path) (\(body.assignment.attempt))")
            world.witness.produces(product.id, body.assignment)
        }
    }
}
