/// What has become different between two states of the authorised keys, for people.
extension AuthorizedKeys {
    /// No more of each kind are named.
    private static let namedMax = 20

    /// "added `ci` (submit); removed `eve` (submit)"; empty: nothing.
    public func changes(since earlier: AuthorizedKeys) -> String {
        let (before, now) = (earlier.principals.byKey, principals.byKey)
        let (tokensBefore, tokensNow) = (earlier.enrolments.byKey, enrolments.byKey)
        let added = principals.filter { before[$0.key] == nil }.map(\.rightsText)
        let removed = earlier.principals.filter { now[$0.key] == nil }.map(\.rightsText)
        let changed = principals.compactMap { principal in
            before[principal.key].flatMap { $0 == principal ? nil : "\($0.rightsText) to \(principal.rightsText)" }
        }
        let offered = enrolments.filter { $0.key == nil && tokensBefore[$0.token] == nil }.map { "`\($0.name)`" }
        let used = enrolments.filter { $0.key != nil && tokensBefore[$0.token]?.key == nil }.map { "`\($0.name)`" }
        let withdrawn = earlier.enrolments.filter { $0.key == nil && tokensNow[$0.token] == nil }.map { "`\($0.name)`" }
        return [
            Self.list("added", added), Self.list("removed", removed), Self.list("changed", changed),
            Self.list("join tokens made for", offered), Self.list("join tokens used by", used),
            Self.list("join tokens taken back or expired of", withdrawn),
        ].compactMap(\.self).joined(separator: "; ")
    }

    private static func list(_ what: String, _ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let rest = names.count - namedMax
        return "\(what) \(names.prefix(namedMax).joined(separator: ", "))\(rest > 0 ? " and \(rest) more" : "")"
    }
}

extension Principal {
    /// "`ci` (submit; operations noop, shell)".
    fileprivate var rightsText: String {
        var parts = [roleNames.joined(separator: ", ")]
        if !operations.isEmpty { parts.append("operations \(operations.joined(separator: ", "))") }
        if !labels.isEmpty { parts.append("labels \(labels.joined(separator: ", "))") }
        return "`\(name)` (\(parts.joined(separator: "; ")))"
    }
}

extension [Principal] {
    fileprivate var byKey: [PublicKey: Principal] { Dictionary(map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first }) }
}

extension [Enrolment] {
    fileprivate var byKey: [PublicKey: Enrolment] { Dictionary(map { ($0.token, $0) }, uniquingKeysWith: { first, _ in first }) }
}
