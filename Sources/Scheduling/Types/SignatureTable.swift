/// What workers have ever registered, by name and version. Looked up, never iterated in an order that matters.
struct SignatureTable {
    private var byName: [String: [OperationSignature]] = [:]

    /// Rising by version.
    func signatures(of name: String) -> [OperationSignature] { byName[name] ?? [] }

    func contains(_ signature: OperationSignature) -> Bool { byName[signature.name]?.contains(signature) == true }

    /// The latest of one name and version counts.
    mutating func register(_ signature: OperationSignature) {
        var known = byName[signature.name] ?? []
        known.removeAll { $0.version == signature.version }
        known.append(signature)
        known.sort { $0.version < $1.version }
        byName[signature.name] = known
    }
}
