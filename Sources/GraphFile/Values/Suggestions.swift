/// Finds what was probably meant by a name that does not exist.
package struct Suggestions {
    private var comparisonsLeft = FileLimits.suggestionComparisons

    /// From here on nothing is suggested: no need to collect names.
    var areOver: Bool { comparisonsLeft <= 0 }

    /// The nearest candidate within one edit for short names and three for long ones; the first of equally near ones.
    mutating func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
        let wanted = Array(name.unicodeScalars)
        guard (1...64).contains(wanted.count) else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            guard comparisonsLeft > 0 else { return nil }
            comparisonsLeft -= 1
            let other = Array(candidate.unicodeScalars)
            let allowed = min((best?.distance ?? 4) - 1, max(1, min(3, max(wanted.count, other.count) / 2)))
            guard allowed >= 0, abs(other.count - wanted.count) <= allowed else { continue }
            let distance = Self.distance(wanted, other)
            if distance <= allowed, distance < wanted.count { best = (candidate, distance) }
        }
        return best?.name
    }

    /// `, did you mean `x`?` or nothing.
    mutating func hint(for name: String, among candidates: some Sequence<String>) -> String {
        nearest(to: name, among: candidates).map { ", did you mean \(quoted($0))?" } ?? ""
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment); another case counts nothing.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        let left = left.map(\.properties.lowercaseMapping)
        let right = right.map(\.properties.lowercaseMapping)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 1...max(1, left.count) where row <= left.count {
            var current = [row]
            for column in 1...max(1, right.count) where column <= right.count {
                let replaced = last[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
                var value = min(replaced, last[column] + 1, current[column - 1] + 1)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    value = min(value, beforeLast[column - 2] + 1)
                }
                current.append(value)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
