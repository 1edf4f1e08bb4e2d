import Executing
import Wire

extension Executor {
    /// For operations that receive what others send.
    func openStreams() {
        let loop = loop
        let desk = StreamDesk(
            send: { [unowned self] request in link?.send(.with { $0.request = request }) },
            later: { again in _ = loop.after(milliseconds: StreamDesk.busyMilliseconds) { again() } })
        streams = desk
        runner?.openStream = desk.opener { loop.submit($0) }
    }
}
