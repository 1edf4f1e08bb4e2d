import Foundation
import Testing
import Wire

@Suite(.serialized) struct MailboxTests {
    @Test func everyWriterIsHeard_inItsOrder() throws {
        let writers = 16
        let each = 5000
        let mailbox = try Mailbox<(Int, Int)>()
        for writer in 0..<writers {
            Thread { for number in 0..<each { mailbox.post((writer, number)) } }.start()
        }
        var poller = Poller()
        let mail = poller.add(mailbox)
        var next = [Int](repeating: 0, count: writers)
        var count = 0
        let deadline = BootClock.milliseconds() + 60_000
        while count < writers * each {
            let ready = try poller.wait(until: deadline)
            try #require(BootClock.milliseconds() < deadline, "a wake-up was lost after \(count) elements")
            guard ready.isReadable(mail) else { continue }
            let elements = mailbox.drain()
            for (writer, number) in elements {
                #expect(number == next[writer])
                next[writer] += 1
            }
            count += elements.count
        }
        #expect(mailbox.drain().isEmpty)
    }

    @Test func aPostBeforeTheWait_isSeen() throws {
        let mailbox = try Mailbox<Int>()
        mailbox.post(1)
        mailbox.post(2)
        var poller = Poller()
        let mail = poller.add(mailbox)
        #expect(try poller.wait(until: nil).isReadable(mail))
        // Until it is drained, it is ready.
        #expect(try poller.wait(until: nil).isReadable(mail))
        #expect(mailbox.drain() == [1, 2])
        #expect(try poller.wait(until: BootClock.milliseconds()).isEmpty)
        poller.remove(mail)
        mailbox.post(3)
        #expect(try poller.wait(timeoutMilliseconds: 0).isEmpty)
        #expect(poller.add(mailbox) == mail)
        #expect(try poller.wait(timeoutMilliseconds: 0).isReadable(mail))
    }

    @Test func aDeadline_endsTheWait() throws {
        var poller = Poller()
        _ = poller.add(try Mailbox<Int>())
        let start = BootClock.milliseconds()
        #expect(try poller.wait(until: start + 30).isEmpty)
        #expect(BootClock.milliseconds() >= start + 29)
        #expect(try poller.wait(until: .min).isEmpty)
    }
}
