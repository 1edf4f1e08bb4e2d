import Wire

/// What a graph file may ask for. Everything here ends in an error that names the limit, never in a crash.
enum FileLimits {
    /// Of one file. A literal forEach list of a million short elements is about 20 MiB.
    static let fileBytes = 64 << 20
    /// Scalars, lists and maps of one file, aliases counted as often as they are used: what stops alias bombs.
    static let values = 10_000_000
    /// Entries of one list: no group and no forEach has more. The root is a node, and in no list.
    static let listEntries = max(Limits.graphNodes - 1, Limits.forEachElements)
    /// Groups within groups, as the coordinator accepts them.
    static let nestingDepth = Limits.nestingDepth
    /// Lists and maps within each other in the text: a nested group takes two of them, the rest is for values.
    static let textDepth = 4 * nestingDepth
    /// Lists and maps within one parameter, variable or element; JSON decoders give up at 512.
    static let valueDepth = 256
    /// Nodes of one graph, its root and forEach bodies included.
    static let graphNodes = Limits.graphNodes
    /// Elements of one literal forEach list.
    static let forEachElements = Limits.forEachElements
    /// UTF-8 bytes of an id: it becomes part of paths, file names and log lines.
    static let identifierBytes = 255
    /// Attempts after the first.
    static let retries = 1_000_000
    static let priorities = -100...100
    /// Processes that may die under one operation.
    static let crashLimits = 1...1_000
    static let weights = 1...100
    /// Reasons for which one node is tried again.
    static let retryReasons = 64
    /// Keys of locks that one node names, and UTF-8 bytes of one.
    static let exclusiveKeys = 64
    static let exclusiveKeyBytes = Limits.keyBytes
    /// Labels and resources that one node requires, UTF-8 bytes of a label, and the most of a resource: 1 PiB.
    static let requirements = 64
    static let labelBytes = Limits.keyBytes
    static let resourceAmount: Int64 = 1 << 50
    /// UTF-8 bytes of a unique id.
    static let uniqueBytes = 256
    /// Conditions of one node, and starts that a rate limit counts.
    static let conditions = 64
    /// Conditions in `any` and `all` of one node.
    static let conditionParts = 1_000
    /// How deep conditions may stand in `any` and `all`.
    static let conditionDepth = 16
    static let rateCount = 100_000
    /// Bytes of one operation's parameters, and of one element, as JSON.
    static let parameterBytes = Limits.parameterBytes
    /// Longest duration; the wire carries milliseconds of an attempt in 32 bits.
    static let durationMilliseconds: Int64 = 49 * 86_400_000
    /// Largest `maxOutput`, 1 PiB: below 2^53, so that any JSON decoder reads it exactly.
    static let outputBytes: Int64 = 1 << 50
    /// Names compared in search of suggestions, over the whole file: ten thousand misspelt names stay linear.
    static let suggestionComparisons = 200_000
}
