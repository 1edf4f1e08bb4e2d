import ArgumentParser
import Foundation
import Wire

/// Where a coordinator keeps everything.
struct DataOption: ParsableArguments {
    @Option(
        help: "The directory that holds everything. (default: $XDG_STATE_HOME/aop, under systemd its state directory)",
        completion: .directory)
    var data: String?

    /// Absolute.
    var path: String {
        if let data { return data.hasPrefix("/") ? data : FileManager.default.currentDirectoryPath + "/" + data }
        let systemd = Environment["STATE_DIRECTORY"]
        return systemd.isEmpty ? StateDirectory.path() : systemd
    }
}
