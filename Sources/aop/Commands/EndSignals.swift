import CLinux
import Foundation
import UnixSignals

/// What ends a process in order that runs for long: Ctrl-C, SIGTERM, and its terminal being closed, unless it was started with nohup.
enum EndSignals {
    static var all: [UnixSignal] { [.sigterm, .sigint] + (outlastsTerminal ? [] : [.sighup]) }

    static func sequence() async -> UnixSignalsSequence {
        if outlastsTerminal {
            await UnixSignalsSequence(trapping: .sigterm, .sigint)
        } else {
            await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        }
    }

    private static var outlastsTerminal: Bool { clinux_is_ignored(SIGHUP) == 1 }
}
