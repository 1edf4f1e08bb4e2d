import Foundation
import Testing
import Wire

/// What is printed of commands can be copied.
@Suite struct ShellWordTests {
    @Test(arguments: [
        ("/etc/aop/keys", "/etc/aop/keys"), ("tcp://127.0.0.1:7600", "tcp://127.0.0.1:7600"), ("my dir", "'my dir'"), ("", "''"),
        ("it's", "'it'\\''s'"), ("$HOME", "'$HOME'"), ("a\nb", "'a\nb'"), ("größe", "'größe'"), ("~/x", "'~/x'"),
    ])
    func whatAShellTakesApart_isQuoted(text: String, word: String) { #expect(text.shellWord == word) }

    @Test(arguments: ["my dir", "it's", "$(touch x)", "a;b", "*", "'", "\"q\"", "back\\slash", "`x`", " "])
    func shell_readsTheSame(text: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "printf %s \(text.shellWord)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let read = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(String(decoding: read, as: UTF8.self) == text)
    }

    @Test func directoriesInErrors_areQuoted() {
        #expect("\(KeyError.noCoordinatorKey(directory: "/my keys"))".contains("`aop keys init --dir '/my keys'`"))
    }
}
