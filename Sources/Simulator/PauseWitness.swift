/// What no executor may begin by itself any more, as the client was told that it is paused.
struct PauseWitness {
    /// Names of what was linked, by attempts.
    private var links: [UInt64: String] = [:]
    /// Attempts that were linked in what is paused, when it was, by its name.
    private var linkedBefore: [String: Set<UInt64>] = [:]
    private var held: Set<UInt64> = []

    mutating func linked(_ name: String, _ attempt: UInt64) { links[attempt] = name }

    mutating func paused(_ name: String) {
        linkedBefore[name] = Set(links.filter { $0.value == name || $0.value.hasPrefix(name + "/") }.keys)
    }

    mutating func resumed(_ name: String) { linkedBefore[name] = nil }

    mutating func acknowledged(_ name: String) { held.formUnion(linkedBefore[name] ?? []) }

    func mayBegin(_ attempt: UInt64) -> Bool { !held.contains(attempt) }
}
