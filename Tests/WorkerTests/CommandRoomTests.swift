import Synchronization
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(1))) struct CommandRoomTests {
    @Test func commandsAtOnce_followFromTheFilesThatThereMayBe() {
        #expect(CommandRoom.max(openFiles: 1024, inUse: 20) == 156)
        #expect(CommandRoom.max(openFiles: 64, inUse: 20) == 1)
        #expect(CommandRoom.max(openFiles: 0, inUse: 20) == 1)
    }

    private final class Order: Sendable {
        let lines = Mutex<[String]>([])
    }

    @Test func turns_comeInTheirOrder_andWhatIsStoppedMeanwhileLeavesTheLine() async {
        let room = CommandRoom(max: 1)
        #expect(await room.enter(CommandControl()))
        let controls = (0..<3).map { _ in CommandControl() }
        let order = Order()
        await withTaskGroup(of: Void.self) { group in
            for (number, control) in controls.enumerated() {
                group.addTask {
                    let entered = await room.enter(control)
                    order.lines.withLock { $0.append("\(number) \(entered)") }
                    if entered { room.leave() }
                }
                while room.waiting < number + 1 { await Task.yield() }
            }
            controls[1].stop(.gently)
            while order.lines.withLock({ $0.isEmpty }) { await Task.yield() }
            room.leave()
        }
        #expect(order.lines.withLock { $0 } == ["1 false", "0 true", "2 true"])
        let stopped = CommandControl()
        stopped.stop(.now)
        #expect(await room.enter(stopped) == false)
        #expect(await room.enter(CommandControl()))
    }
}
