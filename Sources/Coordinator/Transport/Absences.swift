import Logging

/// What a start misses in a data directory that has been used: it makes it anew, and says so.
struct Absences {
    private var losses: [String] = []
    private var doubts: [String] = []

    /// Looks before anything is made.
    ///
    /// - Throws: `JournalError`: a file cannot be read.
    init(in directory: DataDirectory, keepsHistory: Bool) throws {
        let (output, history) = (SideFile.output(directory.outputPath), SideFile.history(directory.historyPath))
        if output.isEmpty { losses.append(output.emptinessText) }
        if keepsHistory, history.isEmpty {
            doubts.append("\(history.path) is not there, or empty: a new one is begun; if there was one, \(history.loss)")
        }
        if try JournalWitness.acknowledged(in: directory.path) == 0 {
            doubts.append(Self.unchecked(JournalWitness.path(in: directory), "the end of the journal is there, too,"))
        }
        if !DurableFiles.isThere(ElementWitness.path(in: directory.path)) {
            doubts.append(Self.unchecked(ElementWitness.path(in: directory.path), "all partial results are there"))
        }
    }

    private static func unchecked(_ path: String, _ what: String) -> String {
        "\(path) is not there, or does not say anything, as after a restore: that \(what) could not be checked"
    }

    func tell(_ logger: Logger) {
        for loss in losses { logger.warning("\(loss)") }
        for doubt in doubts { logger.notice("\(doubt)") }
    }
}
