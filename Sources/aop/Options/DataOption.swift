import ArgumentParser
import Foundation
import Settings
import Wire

/// Where a coordinator keeps everything.
struct DataOption: ParsableArguments {
    @Option(
        help:
            "The directory that holds everything. AOP_DATA sets it, too. (default: $XDG_STATE_HOME/aop, under systemd its state directory)",
        completion: .directory)
    var data: String?

    mutating func validate() throws { try Self.check(data) }

    /// A variable that is not set, mostly: it would mean the current directory.
    static func check(_ data: String?) throws {
        if data?.isEmpty == true { throw ValidationError("--data names no directory: it is empty; leave it out, or write a path") }
    }

    /// Absolute.
    var path: String {
        if let data = data ?? Settings.text(.data) {
            return data.hasPrefix("/") ? data : FileManager.default.currentDirectoryPath + "/" + data
        }
        return Self.standard
    }

    static var standard: String {
        let systemd = Environment["STATE_DIRECTORY"]
        return systemd.isEmpty ? StateDirectory.path() : systemd
    }
}
