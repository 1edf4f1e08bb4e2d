import Scheduling
import Wire

extension ExecutorAttachment {
    /// Reads an executor's hello.
    ///
    /// - Throws: `TranslationError` for counts, names or states out of bounds.
    init(wire hello: WireHello) throws(TranslationError) {
        guard hello.hasExecutor else { throw TranslationError("an executor's hello without its `executor` part") }
        let executor = hello.executor
        guard (1...UInt32(CoordinatorLimits.slots)).contains(executor.slots) else {
            throw TranslationError("\(executor.slots) slots; an executor has 1 to \(CoordinatorLimits.slots)")
        }
        try TranslationError.checkCount(
            executor.operations.count, "operation types", limit: CoordinatorLimits.namesPerExecutor,
            named: "namesPerExecutor")
        try TranslationError.checkCount(
            executor.labels.count, "labels", limit: CoordinatorLimits.namesPerExecutor, named: "namesPerExecutor")
        try TranslationError.checkCount(
            executor.units.count, "held units", limit: CoordinatorLimits.heldUnits, named: "heldUnits")
        guard !hello.host.isEmpty else { throw TranslationError("an executor's hello without a host name") }
        var operations: [OperationSignature] = []
        for operation in executor.operations { operations.append(try OperationSignature(wire: operation)) }
        try TranslationError.checkCount(
            executor.conditions.count, "condition types", limit: CoordinatorLimits.namesPerExecutor, named: "namesPerExecutor")
        for condition in executor.conditions { try TranslationError.checkName(condition, "a condition type") }
        for label in executor.labels { try TranslationError.checkKey(label, "a label") }
        try TranslationError.checkCount(
            executor.resources.count, "resources", limit: CoordinatorLimits.namesPerExecutor, named: "namesPerExecutor")
        var resources: [ResourceAmount] = []
        for resource in executor.resources {
            let resource = try ResourceAmount(wire: resource, "a resource")
            guard !resources.contains(where: { $0.name == resource.name }) else {
                throw TranslationError("an executor names its resource `\(resource.name)` twice")
            }
            resources.append(resource)
        }
        var held: [Held] = []
        for unit in executor.units { held.append(try Held(wire: unit)) }
        self.init(
            identity: WorkerIdentity(
                incarnation: Incarnation(hello.incarnation),
                name: executor.submitter ? "\(hello.host)/submitter-\(hello.pid)" : "\(hello.host)/\(executor.index)", host: hello.host,
                pid: hello.pid, supervisor: Incarnation(executor.supervisorIncarnation), isSubmitter: executor.submitter),
            slots: Int(executor.slots), operations: operations, labels: executor.labels, held: held,
            conditions: executor.conditions, resources: resources, line: min(Int(executor.line), CoordinatorLimits.heldUnits),
            connection: hello.connection, followsLinks: hello.capabilities.contains(ProtocolVersion.links))
    }
}

extension ExecutorAttachment.Held {
    fileprivate init(wire: WireHeldUnit) throws(TranslationError) {
        let state: ExecutorAttachment.HeldState
        switch wire.state {
        case .queued: state = .queued
        case .running: state = .running
        case .finished: state = .finished
        case .UNRECOGNIZED(let number): throw TranslationError("a held unit in the unknown state \(number)")
        }
        self.init(unit: UnitID(rawValue: wire.unit), attempt: Attempt(rawValue: wire.attempt), state: state)
    }

    var wire: WireHeldUnit {
        var wire = WireHeldUnit()
        wire.unit = unit.rawValue
        wire.attempt = attempt.rawValue
        switch state {
        case .queued: wire.state = .queued
        case .running: wire.state = .running
        case .finished: wire.state = .finished
        }
        return wire
    }
}

extension OperationSignature {
    fileprivate init(wire: WireOperationType) throws(TranslationError) {
        try TranslationError.checkName(wire.name, "an operation type")
        self.init(
            name: wire.name, version: Int(max(1, wire.version)), oldestVersion: wire.oldestVersion == 0 ? nil : Int(wire.oldestVersion),
            // An older worker does not tell.
            input: wire.receives || wire.oldestVersion == 0 ? ValueType(wire: wire.input) : nil, output: ValueType(wire: wire.output))
        if wire.hasSent { sent = ValueType(wire: wire.sent) }
        if wire.hasStreamed { streamed = ValueType(wire: wire.streamed) }
        decides = wire.decides
        var budget = CoordinatorLimits.shapeFields
        if wire.hasParameters { parameters = ParameterShape(wire: wire.parameters, depth: 0, &budget) }
    }
}

extension ParameterShape {
    /// What only a newer worker knows, and what is too deep or too much, is unknown.
    fileprivate init(wire: WireParameterShape, depth: Int, _ budget: inout Int) {
        budget -= 1 + wire.choices.count
        guard depth < Self.depthMax, budget >= 0 else {
            self = .any
            return
        }
        switch wire.kind {
        case .any, .UNRECOGNIZED: self = .any
        case .bool: self = .bool
        case .integer: self = .integer
        case .number: self = .number
        case .text: self = .text
        case .choice: self = .choice(wire.choices)
        case .array: self = .array(ParameterShape(wire: wire.element, depth: depth + 1, &budget))
        case .object:
            var fields: [Field] = []
            for field in wire.fields {
                fields.append(
                    Field(field.name, ParameterShape(wire: field.shape, depth: depth + 1, &budget), isRequired: field.required))
            }
            self = budget < 0 ? .any : .object(fields)
        }
    }
}

extension ValueType {
    /// What fits is unknown of a form that only a newer worker knows, and of names too long to be kept.
    fileprivate init(wire: WireValueType) {
        let isKept = [wire.name, wire.element].allSatisfy { $0.utf8.count <= Limits.nameBytes }
        guard isKept, let form = UInt8(exactly: wire.form.rawValue).flatMap(Form.init(rawValue:)) else {
            self = .any
            return
        }
        self.init(form, name: wire.name, element: wire.element)
    }
}
