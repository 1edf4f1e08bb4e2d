/// How a file of authorised keys is laid out: what people wrote into it stays where they wrote it when the file is written anew.
struct AuthorizedLayout: Sendable {
    private enum Line: Sendable {
        /// A comment, or an empty line.
        case remark(Substring)
        case key(PublicKey)
    }

    private static let header = "# name  public key  roles  [operations=NAME,…]  [labels=NAME,…]"

    private var lines: [Line] = []

    mutating func add(remark: Substring) { lines.append(.remark(remark)) }
    mutating func add(_ key: PublicKey) { lines.append(.key(key)) }

    /// The lines in their places; new ones come last, and those that are not given any more are gone.
    func text(_ given: [AuthorizedLine]) -> String {
        let texts = Dictionary(given.map { ($0.key, $0.text) }, uniquingKeysWith: { first, _ in first })
        var placed: Set<PublicKey> = []
        var written = lines.isEmpty ? [Self.header] : []
        for line in lines {
            switch line {
            case .remark(let text): written.append(String(text))
            case .key(let key):
                placed.insert(key)
                if let text = texts[key] { written.append(text) }
            }
        }
        written += given.filter { !placed.contains($0.key) }.map(\.text)
        // A file of no bytes is what is left when somebody else fails to write it.
        if written.isEmpty { written = [Self.header] }
        return written.map { "\($0)\n" }.joined()
    }
}
