import Wire

/// How far an operation has come: `42 %: reading a.txt`.
enum ProgressText {
    static func of(_ progress: WireProgress) -> String {
        let percent = "\(Int((min(max(progress.fraction, 0), 1) * 100).rounded(.down))) %"
        return progress.hasMessage ? "\(percent): \(PlainText.of(progress.message))" : percent
    }
}
