/// A line of the file `authorized`.
enum AuthorizedLine {
    case principal(Principal)
    case enrolment(Enrolment)

    /// What it may say behind the roles.
    private enum Word: String {
        case operations, labels
        /// Of join tokens.
        case until
        case `for`

        var isLimit: Bool { self == .operations || self == .labels }
    }

    /// The key that it is about.
    var key: PublicKey {
        switch self {
        case .principal(let principal): principal.key
        case .enrolment(let enrolment): enrolment.token
        }
    }

    var name: String {
        switch self {
        case .principal(let principal): principal.name
        case .enrolment(let enrolment): enrolment.name
        }
    }

    /// - Parameter malformed: makes the error of what is wrong with the line.
    init(_ line: Substring, _ malformed: (String) -> KeyError) throws(KeyError) {
        var words = line.split(separator: " ")
        let isEnrolment = words.first.map { $0 == Enrolment.word } ?? false
        if isEnrolment { words.removeFirst() }
        guard words.count >= 3 else {
            throw malformed(
                isEnrolment
                    ? "the line of a join token is `enrol`, a name, a public key, roles and until=TIME, with a space between"
                    : "a line is a name, a public key and roles, with a space between")
        }
        guard Principal.isName(String(words[0])) else { throw malformed("\(KeyError.name(String(words[0])))") }
        guard let key = PublicKey(words[1]) else {
            throw malformed("the \(isEnrolment ? "third" : "second") word is no public key of \(PublicKey.characters) characters")
        }
        let principal = Principal(name: String(words[0]), key: key, roles: try Self.roles(words[2], malformed))
        let values = try Self.values(words.dropFirst(3), isEnrolment, malformed)
        self = try isEnrolment ? .enrolment(Self.enrolment(principal, values, malformed)) : .principal(Self.limited(principal, values))
    }

    private static func roles(_ text: Substring, _ malformed: (String) -> KeyError) throws(KeyError) -> Set<KeyRole> {
        var roles: Set<KeyRole> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let role = KeyRole(rawValue: String(word)) else {
                throw malformed("`\(word)` is no role; they are \(KeyRole.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            roles.insert(role)
        }
        return roles
    }

    private static func values(
        _ words: ArraySlice<Substring>, _ isEnrolment: Bool, _ malformed: (String) -> KeyError
    ) throws(KeyError) -> [Word: Substring] {
        var values: [Word: Substring] = [:]
        for text in words {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let list = parts.count == 2 ? parts[1].split(separator: ",", omittingEmptySubsequences: false) : []
            guard !list.isEmpty, list.allSatisfy({ !$0.isEmpty }) else { throw malformed("`\(text)` is no limit: \(advice(isEnrolment))") }
            guard let word = Word(rawValue: String(parts[0])), isEnrolment || word.isLimit,
                values.updateValue(parts[1], forKey: word) == nil
            else {
                throw malformed("`\(text)` is no limit, or is there twice: \(advice(isEnrolment))")
            }
        }
        return values
    }

    private static func advice(_ isEnrolment: Bool) -> String {
        "write operations=NAME,… or labels=NAME,…" + (isEnrolment ? ", and until=TIME" : "")
    }

    private static func limited(_ principal: Principal, _ values: [Word: Substring]) -> Principal {
        var principal = principal
        func list(_ word: Word) -> [String] { values[word].map { $0.split(separator: ",").map(String.init) } ?? [] }
        principal.operations = list(.operations)
        principal.labels = list(.labels)
        return principal
    }

    private static func enrolment(
        _ principal: Principal, _ values: [Word: Substring], _ malformed: (String) -> KeyError
    ) throws(KeyError) -> Enrolment {
        guard let until = values[.until].flatMap({ Enrolment.milliseconds(of: $0) }) else {
            throw malformed("a join token has until=TIME, such as until=2026-11-23T15:00:00Z")
        }
        let key = values[.for].map { PublicKey($0) }
        if case .some(nil) = key { throw malformed("for= is no public key of \(PublicKey.characters) characters") }
        let limited = limited(principal, values)
        return Enrolment(
            name: limited.name, token: limited.key, roles: limited.roles, operations: limited.operations, labels: limited.labels,
            until: until, key: key ?? nil)
    }

    /// As it stands in the file.
    var text: String {
        switch self {
        case .principal(let principal): return Self.words(principal).joined(separator: " ")
        case .enrolment(let enrolment):
            var words = [Enrolment.word] + Self.words(enrolment.principal(with: enrolment.token))
            words.append("\(Word.until.rawValue)=\(enrolment.untilText)")
            if let key = enrolment.key { words.append("\(Word.for.rawValue)=\(key)") }
            return words.joined(separator: " ")
        }
    }

    private static func words(_ principal: Principal) -> [String] {
        var words = [principal.name, principal.key.text, principal.roleNames.joined(separator: ",")]
        if !principal.operations.isEmpty { words.append("operations=" + principal.operations.joined(separator: ",")) }
        if !principal.labels.isEmpty { words.append("labels=" + principal.labels.joined(separator: ",")) }
        return words
    }
}
