import AOperation
import Executing
import Foundation
import Wire

/// What hosted operations produce under ids of their own, while they execute.
extension HostedSession {
    func relayProducts(of operation: AOperation, at path: String, _ key: UnitKey, _ mirrors: Mirrors) {
        let name = operation.errorName
        operation.relayProducts { [weak self] product, id in
            do {
                let made = try ProducedGraph([product], id: id, from: .submitter(requiresRemote: false))
                try mirrors.keep(made, by: path, attempt: key.attempt, id: id)
                guard let self else { return mirrors.discard(attempt: key.attempt, id: id) }
                desk.async { self.put(made.addition, id: id, of: key, mirrors) }
            } catch {
                product.cancelUnqueued()
                guard let self else { return }
                let failure = WireOperationFailure.product(error, publisher: name, host: HostName.current)
                desk.async { self.refuse(failure, of: key) }
            }
        }
    }

    private func put(_ addition: WireAddition, id: String, of key: UnitKey, _ mirrors: Mirrors) {
        let number = state.withLock { state in
            let number = state.products.put(addition, of: key)
            if let number { state.kept[key, default: [:]][number] = (mirrors, id) }
            return number
        }
        if number == nil { mirrors.discard(attempt: key.attempt, id: id) } else { sendProducts() }
    }

    /// The attempt fails, whatever it does.
    private func refuse(_ failure: WireOperationFailure, of key: UnitKey) {
        state.withLock { $0.products.fail(failure, of: key) }
        stopBody(key)
    }

    func sendProducts() {
        for batch in state.withLock({ $0.products.take() }) { send(.with { $0.products = batch }) }
    }

    func receive(_ receipts: [WireProductReceipt]) {
        for receipt in receipts {
            let key = UnitKey(unit: receipt.unit, attempt: receipt.attempt)
            let (end, stops) = state.withLock { $0.products.receive(receipt, host: HostName.current) }
            let kept = state.withLock { $0.kept[key]?.removeValue(forKey: receipt.number) }
            // There is one of this id, or it cannot be there.
            if let kept, !receipt.fresh { kept.mirrors.discard(attempt: key.attempt, id: kept.id) }
            if stops { stopBody(key) }
            if let end { admit(end) }
        }
    }
}
