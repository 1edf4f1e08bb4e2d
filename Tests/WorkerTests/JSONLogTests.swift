import Foundation
import Logging
import Synchronization
import Testing

@testable import Worker

/// Log lines as JSON.
@Suite struct JSONLogTests {
    private final class Lines: TextOutputStream, Sendable {
        private let text = Mutex("")
        var all: String { text.withLock { $0 } }
        func write(_ string: String) { text.withLock { $0 += string } }
    }

    private func logger(_ lines: Lines, isJournal: Bool = false) -> Logger {
        Logger(label: "aop.test") { JSONLogHandler(label: $0, stream: lines, isJournal: isJournal) }
    }

    @Test func event_isOneLine_withItsIDs() throws {
        let lines = Lines()
        var logger = logger(lines)
        logger[metadataKey: "submission"] = "7fk2"
        logger.warning("two\nlines and a \"word\"", metadata: ["peer": "3", "submission": "8xyz"])
        logger.info("no more")
        let texts = lines.all.split(separator: "\n")
        #expect(texts.count == 2 && lines.all.hasSuffix("\n"))
        let event = try #require(try JSONSerialization.jsonObject(with: Data(texts[0].utf8)) as? [String: Any])
        #expect(Set(event.keys) == ["at", "level", "logger", "message", "metadata"])
        #expect(event["level"] as? String == "warning" && event["logger"] as? String == "aop.test")
        #expect(event["message"] as? String == "two\nlines and a \"word\"")
        // What is said with the event counts.
        #expect(event["metadata"] as? [String: String] == ["peer": "3", "submission": "8xyz"])
        let at = try #require(event["at"] as? String)
        #expect(abs(try Date(at, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)).timeIntervalSinceNow) < 60)
    }

    @Test func level_isKept_andTheJournalHasThePriorityBefore() {
        let lines = Lines()
        var logger = logger(lines, isJournal: true)
        logger.logLevel = .error
        logger.warning("quiet")
        logger.error("loud")
        #expect(lines.all.hasPrefix("<3>{\"at\":") && !lines.all.contains("quiet"))
    }
}
