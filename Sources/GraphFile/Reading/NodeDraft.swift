/// A node while its file is being read.
struct NodeDraft {
    enum Kind {
        /// Wrong in a way that has been reported; here so that references to it are not reported as well.
        case invalid
        case operation(type: String, parameters: Int, isTemplated: Bool)
        case group(isOrdered: Bool)
        /// `elements` as JSON; nil: the reference in `receives` delivers them.
        case forEach(as: String, elements: [String]?)
    }
    /// Empty for the root and for the body of a forEach.
    var id = ""
    let parent: Int
    let position: GraphFilePosition
    var kind = Kind.invalid
    /// The registered operation that it names, whatever else is wrong with it.
    var registeredType: String?
    var receives: [Reference] = []
    var receivesArray = false
    var after: [Reference] = []
    var retries = 0
    var timeoutMilliseconds: Int64 = 0
    var graceMilliseconds: Int64?
    var forwardsFailure = false
    var options = OptionsDraft()
    /// It is the dependent operation of this condition of `parent`.
    var prepares: Int?
    var stopsOnFailure = false
    var maxConcurrent = 0
    /// One beyond the last node inside this one, in graph order.
    var end: Int
    /// The next member of the same group, if there is one.
    var nextSibling: Int?

    init(index: Int, parent: Int, position: GraphFilePosition) {
        self.parent = parent
        self.position = position
        end = index + 1
    }

    var isForEach: Bool {
        if case .forEach = kind { true } else { false }
    }

    var isGroup: Bool {
        if case .group = kind { true } else { false }
    }

    var isOrdered: Bool {
        if case .group(isOrdered: true) = kind { true } else { false }
    }
}

extension NodeDraft {
    /// Takes out an edge.
    mutating func leaveOut(_ reference: Reference) {
        receives.removeAll { $0.position == reference.position }
        after.removeAll { $0.position == reference.position }
    }
}

/// A name in `receives`, `after` or `forEach`.
struct Reference {
    let key: NodeKey
    let name: String
    let position: GraphFilePosition
    /// Index of the node it names, once that is known.
    var target: Int?
}
