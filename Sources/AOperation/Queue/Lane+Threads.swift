import Dispatch
import Foundation

// How a lane's operations come to threads.
//
// A thread is summoned through Dispatch when something may start and not enough threads are on their way already. It
// takes what is first, at the moment it comes, and goes on with the next as long as there is one: floods and chains of
// short operations need no journey through Dispatch for each. Whoever takes one summons a further thread if more may
// start, so that operations which block keep nobody else waiting.
extension Lane {
    /// How long a thread goes on with further operations before others who wait for a thread of Dispatch's have their
    /// turn.
    private static let turnNanoseconds: UInt64 = 200_000

    /// Has a thread come.
    func summon(_ quality: QualityOfService) {
        let (executor, isChosen) = executor(for: quality)
        executor.async { [self] in work(quality, turn: isChosen ? 0 : Self.turnNanoseconds) }
    }

    /// A thread has come: runs what is first, and what comes after it while the turn lasts.
    private func work(_ quality: QualityOfService, turn: UInt64) {
        let end = turn == 0 ? 0 : DispatchTime.now().uptimeNanoseconds + turn
        var isNew = true
        while let operation = take(quality, isNew: isNew) {
            isNew = false
            if !operation.run() { returnSlot() }
            if end == 0 || DispatchTime.now().uptimeNanoseconds >= end { break }
        }
        pump()
    }
}
