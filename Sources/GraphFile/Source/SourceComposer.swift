extension SourceDocument {
    /// Takes a YAML or JSON text apart. Throws at the first thing that is not YAML, and at what would be too much of it.
    init(_ text: SourceText) throws(SourceProblem) {
        let events = try YAMLEvents(text)
        var composer = SourceComposer()
        while true {
            let (event, position) = try events.next()
            try composer.receive(event, at: position)
            if case .streamEnd = event { break }
        }
        guard let root = composer.root else { throw SourceText.empty }
        self.init(values: composer.values, root: root)
    }
}

/// Makes the table of values from events, without recursion.
private struct SourceComposer {
    /// A list or map whose end has not been seen.
    private struct OpenCollection {
        let isMapping: Bool
        let anchor: String?
        let position: GraphFilePosition
        /// Of a map: key, value, key, value …
        var members: [Int] = []
        var height: Int32 = 0
        var weight: Int = 1
    }
    private(set) var values: [SourceValue] = []
    private(set) var root: Int?
    private var open: [OpenCollection] = []
    private var anchors: [String: Int] = [:]

    mutating func receive(_ event: YAMLEvent, at position: GraphFilePosition) throws(SourceProblem) {
        switch event {
        case .streamStart, .documentEnd, .streamEnd:
            return
        case .documentStart:
            guard root == nil else {
                throw SourceProblem(position: position, message: "a second document starts here; a graph file holds one")
            }
        case .scalar(let scalar, let anchor):
            try add(SourceValue(content: .scalar(scalar), position: position, height: 0, weight: 1), anchor: anchor)
        case .alias(let name):
            guard let index = anchors[name] else {
                throw SourceProblem(
                    position: position,
                    message: "unknown alias \(quoted("*" + name)): no value before it has the anchor \(quoted("&" + name))")
            }
            try place(index, at: position)
        case .sequenceStart(let anchor):
            try begin(OpenCollection(isMapping: false, anchor: anchor, position: position))
        case .mappingStart(let anchor):
            try begin(OpenCollection(isMapping: true, anchor: anchor, position: position))
        case .collectionEnd:
            guard let ended = open.popLast() else {
                preconditionFailure("libyaml ended a collection that it had not started, at \(position)")
            }
            try add(value(of: ended), anchor: ended.anchor)
        }
    }

    private mutating func begin(_ collection: OpenCollection) throws(SourceProblem) {
        guard open.count < FileLimits.textDepth else { throw tooDeep(at: collection.position) }
        open.append(collection)
    }

    private func value(of ended: OpenCollection) -> SourceValue {
        let content: SourceValue.Content
        if ended.isMapping {
            content = .mapping(
                stride(from: 0, to: ended.members.count - 1, by: 2).map {
                    SourceEntry(key: ended.members[$0], value: ended.members[$0 + 1])
                })
        } else {
            content = .sequence(ended.members)
        }
        return SourceValue(content: content, position: ended.position, height: ended.height + 1, weight: Int32(ended.weight))
    }

    private mutating func add(_ value: SourceValue, anchor: String?) throws(SourceProblem) {
        guard values.count < FileLimits.values else { throw tooMany(at: value.position) }
        values.append(value)
        if let anchor { anchors[anchor] = values.count - 1 }
        try place(values.count - 1, at: value.position)
    }

    private mutating func place(_ index: Int, at position: GraphFilePosition) throws(SourceProblem) {
        guard let last = open.indices.last else {
            root = index
            return
        }
        guard open[last].isMapping || open[last].members.count < FileLimits.listEntries else {
            throw SourceProblem(
                position: position,
                message: "a list has more than \(FileLimits.listEntries) entries up to here; let a `forEach` over a producer make the nodes"
            )
        }
        open[last].members.append(index)
        open[last].height = max(open[last].height, values[index].height)
        open[last].weight += Int(values[index].weight)
        if open[last].weight > FileLimits.values { throw tooMany(at: position) }
        if open.count + Int(values[index].height) > FileLimits.textDepth { throw tooDeep(at: position) }
    }

    private func tooDeep(at position: GraphFilePosition) -> SourceProblem {
        SourceProblem(
            position: position,
            message:
                "lists and maps are nested more than \(FileLimits.textDepth) deep here; groups may be nested \(FileLimits.nestingDepth) deep"
        )
    }

    private func tooMany(at position: GraphFilePosition) -> SourceProblem {
        SourceProblem(
            position: position, message: "more than \(FileLimits.values) values up to here, aliases counted as often as they are used")
    }
}
