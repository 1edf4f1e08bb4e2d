/// The file of one key pair: what a coordinator or a peer proves itself with.
///
/// ```
/// # A key of an aop cluster, and a secret: mode 0600.
/// name worker
/// public-key rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7
/// secret-key …
/// server-key Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID
/// ```
/// One that a join token was exchanged for also has that token's public key (`token`). A line is a word, a space and its value; lines that begin with `#` and empty ones are comments.
public struct KeyFile: Sendable {
    /// Where it was read; empty: nowhere yet.
    public let path: String
    /// What its owner is called, unless the coordinator calls it otherwise.
    public let name: String
    public let pair: KeyPair
    /// The coordinator's public key. A coordinator's own file has none.
    public let serverKey: PublicKey?
    /// Of the join token that it was exchanged for; nil: it came to be in another way.
    public let token: PublicKey?

    public init(name: String, pair: KeyPair, serverKey: PublicKey?, token: PublicKey? = nil) {
        self.init(path: "", name: name, pair: pair, serverKey: serverKey, token: token)
    }

    private init(path: String, name: String, pair: KeyPair, serverKey: PublicKey?, token: PublicKey?) {
        self.path = path
        self.name = name
        self.pair = pair
        self.serverKey = serverKey
        self.token = token
    }

    /// - Throws: ``KeyError``: it is missing, is not this user's alone, or holds no key.
    public init(contentsOf path: String) throws(KeyError) { try self.init(text: PrivateFile.read(path), path: path) }

    package init(text: String, path: String) throws(KeyError) {
        var values: [Substring: Substring] = [:]
        for (number, line) in KeyLines.of(text) {
            let (word, value) = KeyLines.split(line)
            guard ["name", "public-key", "secret-key", "server-key", "token"].contains(word) else {
                // Not the word itself: it may be a secret that lost its place.
                throw .malformed(
                    path: path, line: number,
                    problem: "a line is `name`, `public-key`, `secret-key`, `server-key` or `token`, and its value")
            }
            guard values.updateValue(value, forKey: word) == nil else {
                throw .malformed(path: path, line: number, problem: "`\(word)` is there twice")
            }
        }
        func malformed(_ problem: String) -> KeyError { .malformed(path: path, line: 0, problem: problem) }
        let name = String(values["name"] ?? "")
        guard Principal.isName(name) else { throw malformed("it has no `name` that a key can have") }
        guard let secret = values["secret-key"].flatMap({ SecretKey($0) }) else {
            throw malformed("it has no `secret-key` of \(PublicKey.characters) characters")
        }
        guard let publicKey = values["public-key"].flatMap({ PublicKey($0) }) else {
            throw malformed("it has no `public-key` of \(PublicKey.characters) characters")
        }
        let pair: KeyPair
        do { pair = try KeyPair(secret) } catch { throw .keys(error) }
        guard pair.publicKey == publicKey else { throw malformed("`public-key` and `secret-key` do not belong together") }
        func key(_ word: Substring) throws(KeyError) -> PublicKey? {
            guard let value = values[word] else { return nil }
            guard let key = PublicKey(value) else { throw malformed("`\(word)` is not a key of \(PublicKey.characters) characters") }
            return key
        }
        self.init(path: path, name: name, pair: pair, serverKey: try key("server-key"), token: try key("token"))
    }

    /// Writes it to a new file.
    ///
    /// - Throws: ``KeyError``; what is there already is not written over.
    public func write(to path: String) throws(KeyError) {
        var lines = [
            "# A key of an aop cluster, and a secret: mode 0600.", "name \(name)", "public-key \(pair.publicKey)",
            "secret-key \(pair.secretKey.text)",
        ]
        if let serverKey { lines.append("server-key \(serverKey)") }
        if let token { lines.append("token \(token)") }
        try PrivateFile.write(lines.joined(separator: "\n") + "\n", to: path, replaces: false)
    }
}

/// Files of keys are made of lines.
enum KeyLines {
    /// Those that say something, with their numbers from 1.
    static func of(_ text: String) -> [(number: Int, line: Substring)] {
        every(text).compactMap { $0.isRemark ? nil : ($0.number, $0.line) }
    }

    /// Comments and empty lines, too.
    static func every(_ text: String) -> [(number: Int, line: Substring, isRemark: Bool)] {
        // Also where editors end lines as on other systems: "\r\n" is one character.
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.enumerated().map { index, line in
            (index + 1, line, line.allSatisfy(\.isWhitespace) || line.hasPrefix("#"))
        }
    }

    static func split(_ line: Substring) -> (word: Substring, value: Substring) {
        guard let space = line.firstIndex(of: " ") else { return (line, "") }
        var value = line[line.index(after: space)...]
        while value.last == " " { value.removeLast() }
        return (line[..<space], value)
    }
}
