/// Names of resources, as files, flags and environment variables have them.
public enum ResourceName {
    /// Of a resource that is counted in bytes.
    public static let memory = "memory"

    /// Lower-case letters, digits and `_`, a letter first, at most 64: what fits into the name of an environment variable
    /// without two becoming one. `label` and `labels` mean something else beside them.
    public static func isSound(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), name.utf8.count <= 64 else { return false }
        return name != "label" && name != "labels"
            && name.utf8.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_") }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
