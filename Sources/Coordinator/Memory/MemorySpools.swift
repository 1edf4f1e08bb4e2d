/// The spools of a coordinator in memory. Each is made when something comes into it, or is read: most runs of a simulation need none.
struct MemorySpools {
    private var keptElements: ElementDatabase?
    private var keptOutput: OutputDatabase?
    /// How much partial results may take: bytes.
    var elementsBytesMax = Int64.max {
        didSet { keptElements?.totalBytesMax = elementsBytesMax }
    }
    /// How much partial results take: bytes.
    var elementsBytes: Int64 { keptElements?.totalBytes ?? 0 }

    /// - Throws: SQLite's errors, and what `body` throws.
    mutating func elements<Result>(_ body: (inout ElementDatabase) throws -> Result) throws -> Result {
        if keptElements == nil {
            keptElements = try ElementDatabase()
            keptElements?.totalBytesMax = elementsBytesMax
        }
        return try body(&keptElements!)
    }

    /// - Throws: SQLite's errors, and what `body` throws.
    mutating func output<Result>(_ body: (inout OutputDatabase) throws -> Result) throws -> Result {
        if keptOutput == nil { keptOutput = try OutputDatabase() }
        return try body(&keptOutput!)
    }
}
