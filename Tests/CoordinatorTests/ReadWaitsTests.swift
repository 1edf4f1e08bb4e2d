import Scheduling
import Testing

@testable import Coordinator

/// Readers that wait for more.
@Suite struct ReadWaitsTests {
    private let topic = ReadWaits<String>.Topic.elements(UnitID(SubmissionNumber(1), 2))
    private let other = ReadWaits<String>.Topic.output(UnitID(SubmissionNumber(1), 2))
    private let peer = PeerID(5)

    @Test func whoWaits_isWokenOnce_byItsTopicOnly() {
        var waits = ReadWaits<String>()
        let version = waits.look(at: topic)
        #expect(waits.park("a", of: peer, at: topic, since: version, until: 100) == true)
        #expect(waits.wake(other).isEmpty)
        #expect(waits.count(of: peer) == 1)
        #expect(waits.wake(topic) == ["a"])
        #expect(waits.wake(topic).isEmpty)
        #expect(waits.count(of: peer) == 0)
        #expect(waits.topics(of: SubmissionNumber(1)).isEmpty)
    }

    @Test func whatHappensWhileSomebodyLooks_isNotMissed() {
        var waits = ReadWaits<String>()
        let version = waits.look(at: topic)
        #expect(waits.wake(topic).isEmpty)
        #expect(waits.park("a", of: peer, at: topic, since: version, until: 100) == false)
        let again = waits.look(at: topic)
        #expect(waits.park("a", of: peer, at: topic, since: again, until: 100) == true)
    }

    @Test func whoHasWaitedLongEnough_isLetGo_othersWait() {
        var waits = ReadWaits<String>()
        for (name, deadline) in [("a", 10), ("b", 20)] as [(String, Int64)] {
            let version = waits.look(at: topic)
            #expect(waits.park(name, of: peer, at: topic, since: version, until: deadline) == true)
        }
        #expect(waits.expire(at: 9).isEmpty)
        #expect(waits.expire(at: 10) == ["a"])
        #expect(waits.wake(topic) == ["b"])
    }

    @Test func peerThatIsGone_isWokenNoMore() {
        var waits = ReadWaits<String>()
        for (name, peer) in [("a", peer), ("b", PeerID(6))] {
            let version = waits.look(at: topic)
            #expect(waits.park(name, of: peer, at: topic, since: version, until: 100) == true)
        }
        #expect(waits.forget(peer) == ["a"])
        #expect(waits.forget(peer).isEmpty)
        #expect(waits.wake(topic) == ["b"])
    }
}
