import Testing
import Wire

@testable import aop

@Suite struct LocksReleaseTests {
    @Test func holdersThatOneCallDidNotReach_areTold() {
        let max = Limits.lockHolders
        #expect(
            LocksReleaseCommand.note(released: max, of: max + 1)
                == "others held it as well: one call takes it from 1000 (lockHolders); run the command again\n")
        #expect(LocksReleaseCommand.note(released: max, of: max) == nil)
        // Some have let go of it since they were counted.
        #expect(LocksReleaseCommand.note(released: max - 1, of: max + 1) == nil)
        #expect(LocksReleaseCommand.note(released: 1, of: 1) == nil)
        // Others have come.
        #expect(LocksReleaseCommand.note(released: 2, of: 1) == nil)
    }
}
