import Foundation
import Subprocess

/// The browser of the user's desktop.
enum Browser {
    /// With which desktops say that they are there, and where.
    private static let displays = ["DISPLAY", "WAYLAND_DISPLAY"]
    private static let opener = "xdg-open"

    /// Asks the desktop to open an address, and does not wait for that. Where that cannot be it says so, and what to do: whatever the
    /// address is of works without.
    static func open(_ address: String, _ console: Console) {
        let environment = ProcessInfo.processInfo.environment
        guard displays.contains(where: { environment[$0]?.isEmpty == false }) else {
            return console.hint(
                "--open: there is no display here (\(displays.joined(separator: ", ")) are not set); open \(address) in a browser")
        }
        // It outlasts this process, and Ctrl-C: some desktops run the browser itself in its place.
        Task.detached {
            if let problem = await problem(opening: address) {
                console.hint("--open: \(opener) \(problem); open \(address) in a browser")
            }
        }
    }

    /// What went wrong; nil: nothing did.
    private static func problem(opening address: String) async -> String? {
        var options = PlatformOptions()
        options.createSession = true
        do {
            let result = try await Subprocess.run(
                .name(opener), arguments: [address], platformOptions: options, input: .none, output: .discarded, error: .discarded)
            return switch result.terminationStatus {
            case .exited(0): nil
            case .exited(let code): "exited with \(code)"
            case .signaled(let signal): "was ended by signal \(signal)"
            }
        } catch {
            return "could not be started (Debian: xdg-utils)"
        }
    }
}
