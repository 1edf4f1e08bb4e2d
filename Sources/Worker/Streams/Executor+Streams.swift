import Executing
import Wire

extension Executor {
    /// For operations that receive what others send.
    func openStreams() {
        let loop = loop
        let desk = StreamDesk(
            send: { [unowned self] request in link?.send(.with { $0.request = request }) },
            later: { again in _ = loop.after(milliseconds: Self.busyMilliseconds) { again() } })
        streams = desk
        // Only touched on the loop's thread.
        nonisolated(unsafe) let loopDesk = desk
        runner?.openStream = { assignment in
            WorkerStreamCursor(assignment) { request, asked, answer in
                loop.submit { asked(loopDesk.ask(request, answer)) }
            } forget: { number in
                loop.submit { loopDesk.forget(number) }
            }
        }
    }

    /// A coordinator that was busy is asked again after this.
    private static let busyMilliseconds: Int64 = 500
}
