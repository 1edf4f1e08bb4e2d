import GRDB
import GRDBSQLite

extension Database {
    /// How long statements wait for a program that has the file locked; nothing where the file was closed.
    func setPatience(milliseconds: Int64) {
        guard let sqliteConnection else { return }
        sqlite3_busy_timeout(sqliteConnection, CInt(clamping: milliseconds))
    }
}
