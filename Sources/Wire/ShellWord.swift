extension String {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-".utf8)

    /// The text as one word for a POSIX shell: in quotes where it has something in it that a shell takes apart, as what is printed of commands
    /// is there to be copied.
    package var shellWord: String {
        let isPlain = !isEmpty && utf8.allSatisfy(Self.plain.contains)
        return isPlain ? self : "'\(split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }
}
