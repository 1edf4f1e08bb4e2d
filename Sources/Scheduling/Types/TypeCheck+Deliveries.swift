/// Whether what producers deliver can be what their receivers take. What only the values can tell is admitted.
extension TypeCheck {
    /// What an operation receives and cannot take.
    mutating func deliveryFault(_ node: Node, _ operation: OperationNode, _ signatures: [OperationSignature]) -> String? {
        let inputs = signatures.compactMap(\.input).map { BuiltInValues.input(of: operation.type, registered: $0) }
        guard let last = inputs.last else {
            if node.streamProducer == nil, signatures.contains(where: { $0.streamed != nil }) {
                return "receives from `\(graph.path(of: node.receives[0]))`, but `\(operation.type)` takes what that sends while it runs,"
                    + " which no graph file can say; submit both from Swift with `stream(to:)`"
            }
            return "receives from `\(graph.path(of: node.receives[0]))`, but `\(operation.type)` takes no value; "
                + "let it only wait (`after`), or make the type a ReceiverOperation"
        }
        // One of its versions takes whatever comes, or looks at nothing of it.
        if inputs.contains(where: { $0.form == .any || $0.form == .void }) { return nil }
        let isArray = node.receivesArray || node.receives.count > 1
        if node.receives.count > 1, inputs.allSatisfy(\.element.isEmpty) {
            return "receives \(node.receives.count) values, but `\(operation.type)` takes one (\(inputs[0].shownName)); "
                + "let it receive an array"
        }
        for producer in node.receives {
            let delivered = delivered(by: producer)
            if case .array(let array) = delivered, !isArray {
                let misfits = inputs.map { array.misfit(of: $0) }
                guard !misfits.contains(nil), case let misfit?? = misfits.last else { continue }
                return fault(misfit, of: array, from: producer, operation, taking: last)
            }
            let outputs = delivered.folded
            let fits = outputs.contains { output in
                inputs.contains { input in isArray && !input.element.isEmpty ? output.fitsElement(of: input) : output.fits(input) }
            }
            guard !fits, let output = outputs.first else { continue }
            return "receives \(isArray && !last.element.isEmpty ? last.element : last.shownName) "
                + "from `\(graph.path(of: producer))`, which delivers \(output.shownName); let them be the same"
        }
        return nil
    }

    private func fault(
        _ misfit: DeliveredArray.Misfit, of array: DeliveredArray, from producer: Int, _ operation: OperationNode, taking input: ValueType
    ) -> String {
        switch misfit {
        case .array where !input.element.isEmpty:
            "receives \(input.shownName) from `\(graph.path(of: producer))`, which delivers \(shownName(of: array)); let them be the same"
        case .array:
            "receives \(input.shownName) from `\(graph.path(of: producer))`, which delivers \(shownName(of: array)); "
                + "let `\(operation.type)` receive an array, or the value of one of them"
        case .element(let element):
            "receives \(input.element) from `\(graph.path(of: element.child))`, which delivers "
                + "\(element.types.first?.shownName ?? "nothing"); let them be the same"
        }
    }

    private func shownName(of array: DeliveredArray) -> String {
        let names = Set(array.elements.map { $0.types.first.map { $0.form == .json || $0.form == .text ? $0.name : "" } ?? "" })
        guard let name = names.first, names.count == 1, !name.isEmpty else { return "an array of its children's values" }
        return "Swift.Array<\(name)>"
    }

    /// What a forEach over the value of a producer cannot take.
    mutating func listFault(_ node: Node) -> String? {
        guard case .forEach(let forEach) = node.kind, forEach.elements == nil, let producer = node.receives.first,
            case .value(let outputs) = delivered(by: producer), !outputs.contains(where: \.mayBeList), let output = outputs.last
        else { return nil }
        let remedy =
            if case .operation(let sender) = graph.nodes[producer].kind, sender.type == BuiltInValues.command {
                "give that `output: lines` or `output: json`"
            } else if output.form == .text {
                "put a `jsonDecode` between them, or let it deliver an array"
            } else {
                "let it deliver an array"
            }
        return "receives a list from `\(graph.path(of: producer))`, which delivers \(output.shownName); \(remedy)"
    }

    // MARK: What is delivered

    /// - Complexity: O(1), once for each group O(children), and once for each node of a chain that passes a value on.
    private mutating func delivered(by producer: Int) -> Delivered {
        var found: Delivered?
        var passing: [Int] = []
        var index = producer
        while found == nil {
            found = passedOn[index] ?? source(index)
            if found == nil {
                passing.append(index)
                index = graph.nodes[index].receives[0]
            }
        }
        let delivered = found ?? .any
        guard !passing.isEmpty else { return delivered }
        // Whoever receives it at the end is compared with its form alone: the one between them names no type.
        let passed = Delivered.value(delivered.folded.map(\.untyped))
        for index in passing { passedOn[index] = passed }
        return passed
    }

    /// Nil: what its only producer delivers.
    private mutating func source(_ index: Int) -> Delivered? {
        let node = graph.nodes[index]
        // Who joins has the value of another one.
        if let unique = node.unique, unique.joins, unique.output.isEmpty || !node.isOperation { return .any }
        switch node.kind {
        case .operation(let operation):
            if node.isHosted { return .any }
            if operation.type == BuiltInValues.command { return .value([commandOutput(operation)]) }
            let outputs = candidates(operation).map(\.output)
            guard outputs.allSatisfy({ $0 == .any }) else { return .value(outputs) }
            if BuiltInValues.passesOn(operation.type) {
                if node.receives.isEmpty { return .value([ValueType(.void)]) }
                return node.receives.count == 1 && !node.receivesArray ? nil : .value([.listOfValues])
            }
            return .value([BuiltInValues.output(of: operation.type) ?? .any])
        case .group, .forEach:
            if let known = arrays[index] { return known }
            let found = delivered(byChildrenOf: index)
            arrays[index] = found
            return found
        case .decider:
            return .any
        }
    }

    private mutating func commandOutput(_ operation: OperationNode) -> ValueType {
        let given = CommandGiven(parameters: operation.parameters, isTemplated: operation.isTemplated)
        if let known = commandOutputs[given] { return known }
        let found = ValueType.ofCommand(graph.parameters[operation.parameters], isTemplated: operation.isTemplated)
        commandOutputs[given] = found
        return found
    }

    /// Children that pass on what others deliver may deliver anything: nothing is followed from within a group.
    private mutating func delivered(byChildrenOf group: Int) -> Delivered {
        let children = children[group] ?? []
        // What will be added is not known.
        guard !children.isEmpty, !deciding.contains(group) else { return .any }
        var mayBeOne = children.count == 1
        if case .forEach(let forEach) = graph.nodes[group].kind {
            if forEach.elements?.isEmpty == true { return .any }
            mayBeOne = forEach.elements?.count == 1
        }
        var elements: [DeliveredArray.Element] = []
        var seen: Set<[ValueType]> = []
        for child in children {
            let types = delivered(byChild: child)
            if types != elements.last?.types, seen.insert(types).inserted { elements.append(.init(types: types, child: child)) }
        }
        if elements.count == 1, let first = elements[0].types.first, first.form == .json, !first.name.isEmpty,
            elements[0].types.allSatisfy({ $0 == first })
        {
            return .array(DeliveredArray(elements: elements, mayBeOne: mayBeOne, uniform: first))
        }
        // None has to be of the others' type: only the forms are compared.
        for index in elements.indices { elements[index].types = elements[index].types.map(\.untyped) }
        return .array(DeliveredArray(elements: elements, mayBeOne: mayBeOne, uniform: nil))
    }

    private mutating func delivered(byChild child: Int) -> [ValueType] {
        let node = graph.nodes[child]
        if node.isOperation { return (source(child) ?? .any).folded }
        return [isList(child) ? .listOfValues : .any]
    }

    /// Whether a group or forEach is known to deliver the list of what is in it. Of an empty one nothing is said.
    private func isList(_ group: Int) -> Bool {
        let node = graph.nodes[group]
        guard node.unique?.joins != true, !deciding.contains(group) else { return false }
        if case .forEach(let forEach) = node.kind { return forEach.elements?.isEmpty != true }
        // In pre-order.
        return graph.nodes.indices.contains(group + 1) && graph.nodes[group + 1].parent == group
    }
}

extension ValueType {
    /// As far as it is certain whoever has passed it on: what a type of its own is read as, only the value can tell.
    fileprivate var untyped: ValueType {
        switch form {
        case .any, .void, .text: self
        case .json: name.isEmpty ? self : .any
        case .own: .any
        }
    }

    var shownName: String {
        switch form {
        case .any: "any value"
        case .void: "nothing"
        case .json where name.isEmpty: "a list of \(element)"
        case .text where name.isEmpty: "text or bytes"
        case .json, .text, .own: name
        }
    }
}
