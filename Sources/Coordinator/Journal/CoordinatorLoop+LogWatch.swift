import Foundation
import Logging

/// The length of the journal's log.
extension CoordinatorLoop {
    func lookAtLog() { perform(logWatch.look(logBytes, at: now.boot)) }

    /// What the journal's thread says.
    func receive(_ cut: JournalDatabase.LogCut) { perform(logWatch.answer(cut, logBytes, at: now.boot)) }

    private func perform(_ action: LogWatch.Action?) {
        switch action {
        case nil: break
        case .cut: journal.cutLog()
        case .tellHeld(let bytes): logger.warning("\(LogWatch.heldText(database.path, bytes: bytes))")
        case .tellShort(let bytes): logger.notice("\(LogWatch.shortText(database.path, bytes: bytes))")
        }
    }

    /// 0: it is not there, which ``FilesInPlace`` tells.
    private var logBytes: Int64 {
        var status = stat()
        return stat(database.path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
    }
}
