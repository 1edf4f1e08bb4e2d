import Scheduling
import Wire

extension ResourceAmount {
    /// Far more than anybody has: 1 PiB.
    static let amountMax: UInt64 = 1 << 50

    /// - Throws: `TranslationError` for a name that is too long and an amount out of range.
    init(wire: WireResourceAmount, _ what: String) throws(TranslationError) {
        try TranslationError.checkName(wire.name, what)
        guard wire.amount <= Self.amountMax else {
            throw TranslationError("\(what) with an amount of \(wire.amount); the limit is \(Self.amountMax)")
        }
        self.init(name: wire.name, amount: Int64(wire.amount))
    }
}

extension Requirements {
    /// - Throws: `TranslationError` for names that are too long, amounts out of range, and a resource that is named twice.
    init(wire: WireRequirements, index: Int) throws(TranslationError) {
        for label in wire.labels { try TranslationError.checkKey(label, "a label that node \(index) of the graph requires") }
        var resources: [ResourceAmount] = []
        for resource in wire.resources {
            let resource = try ResourceAmount(wire: resource, "a resource that node \(index) of the graph requires")
            guard !resources.contains(where: { $0.name == resource.name }) else {
                throw TranslationError("node \(index) of the graph requires the resource `\(resource.name)` twice")
            }
            resources.append(resource)
        }
        self.init(labels: wire.labels, resources: resources)
    }
}

extension AssignedResource {
    var wire: WireAssignedResource {
        .with {
            $0.name = name
            $0.amount = UInt64(clamping: amount)
            $0.indices = indices.map { UInt32(clamping: $0) }
        }
    }
}

extension WaitingView {
    var wire: WireWaiting {
        .with {
            $0.kind = kind.rawValue
            $0.text = text
        }
    }
}

extension ResourceView {
    var wire: WireResourceView {
        .with {
            $0.name = name
            $0.amount = UInt64(clamping: amount)
            $0.taken = UInt64(clamping: taken)
        }
    }
}
