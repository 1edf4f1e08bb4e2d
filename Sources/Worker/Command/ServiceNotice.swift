import Foundation
import Logging
import Settings
import Synchronization

/// What a process writes to standard error that is no line of a logger: as text, or, where log lines are objects, as such an object too.
package enum ServiceNotice {
    private static let chosen = Mutex<LogFormat?>(nil)
    /// Before options are parsed, or where they cannot be.
    private static let found = (flag(in: CommandLine.arguments) ?? Settings.text(.logFormat)).flatMap { LogFormat(rawValue: $0) } ?? .text

    private static func flag(in arguments: [String]) -> String? {
        let flag = "--log-format"
        for (index, argument) in arguments.enumerated().reversed() {
            if argument == flag, index + 1 < arguments.count { return arguments[index + 1] }
            if argument.hasPrefix("\(flag)=") { return String(argument.dropFirst(flag.count + 1)) }
        }
        return nil
    }

    /// How this process's log lines are written.
    package static var format: LogFormat {
        get { chosen.withLock { $0 } ?? found }
        set { chosen.withLock { $0 = newValue } }
    }

    /// Writes the message at once.
    ///
    /// - Parameter text: the line for people, where it is not the message alone.
    package static func write(_ level: Logger.Level, _ message: String, logger: String, text: String? = nil) {
        switch format {
        case .text: FileHandle.standardError.write(Data("\(text ?? message)\n".utf8))
        case .json: FileHandle.standardError.write(Data(line(level, message, logger: logger).utf8))
        }
    }

    /// An object, as a log line is one, with the end of the line.
    package static func line(_ level: Logger.Level, _ message: String, logger: String, metadata: [String: String] = [:]) -> String {
        "\(ServiceLog.journalPrefix(of: level))\(JSONLogLine(level, message, logger: logger, metadata: metadata).text)\n"
    }
}
