/// What workers have ever registered, by name and version. Looked up, never iterated in an order that matters.
struct SignatureTable {
    var byName: [String: [OperationSignature]] = [:]

    /// Rising by version.
    func signatures(of name: String) -> [OperationSignature] { byName[name] ?? [] }

    /// Whether there is nothing new in it.
    func contains(_ signature: OperationSignature) -> Bool {
        byName[signature.name]?.contains { known in
            var other = signature
            if known.parameters == .any { other.parameters = .any }
            return known == other
        } == true
    }

    /// The latest of one name and version counts. Where two builds of one differ in their parameters only, nothing is known of
    /// these: workers of both come and go.
    mutating func register(_ signature: OperationSignature) {
        var known = byName[signature.name] ?? []
        var signature = signature
        if var earlier = known.first(where: { $0.version == signature.version }), earlier.parameters != signature.parameters {
            earlier.parameters = signature.parameters
            if earlier == signature { signature.parameters = .any }
        }
        known.removeAll { $0.version == signature.version }
        known.append(signature)
        known.sort { $0.version < $1.version }
        byName[signature.name] = known
    }
}
