import Foundation
import Testing

@testable import AOperation

/// Plain operations are the program's code: under the lock of the search for circles they are not asked.
@Suite struct PlainFactsTests {
    /// Counts how often it is asked.
    private final class Asked: BlockOperation, @unchecked Sendable {
        let asked = Log<Void>()

        override var isFinished: Bool {
            asked.append(())
            return super.isFinished
        }

        override var dependencies: [Foundation.Operation] {
            asked.append(())
            return super.dependencies
        }
    }

    @Test func onceRefreshed_asksNobody_andSaysWhoIsMissing() {
        let (plain, other) = (Asked(), Asked())
        plain.addDependency(BlockOperation {})
        let facts = PlainFacts()
        #expect(facts.fact(of: plain).dependencies.count == 1)
        facts.refresh()
        let (before, beforeOther) = (plain.asked.count, other.asked.count)
        #expect(facts.fact(of: plain).dependencies.count == 1 && !facts.isOver(plain))
        #expect(!facts.isMissing)
        #expect(facts.fact(of: other).hasBegun, "of one of which nothing is known nothing is said")
        #expect(plain.asked.count == before && other.asked.count == beforeOther)
        #expect(facts.isMissing && facts.askMissing())
        #expect(other.asked.count > beforeOther)
        #expect(!facts.fact(of: other).hasBegun && !facts.isMissing && !facts.askMissing())
    }
}
