import Cluster
import Coordinator
import Wire

/// The two clients that all requests share: one for those who look, one for those who have the token. What each may do is the
/// coordinator's to say.
struct LocalClients: Sendable {
    let observer: ClusterConnection
    let owner: ClusterConnection

    init(_ access: CoordinatorAccess) throws {
        observer = try Self.connect(access, .observer)
        owner = try Self.connect(access, .owner)
    }

    func client(of context: APIContext) -> ClusterConnection {
        switch context.access {
        case .visitor: observer
        case .owner: owner
        }
    }

    func close() async {
        await observer.close()
        await owner.close()
    }

    private static func connect(_ access: CoordinatorAccess, _ rights: CoordinatorAccess.Rights) throws -> ClusterConnection {
        try ClusterConnection(overLocal: { core in
            LocalCarrier(
                access.connect(rights) { event in
                    switch event {
                    case .welcome(let welcome): core.handle(.attached(welcome, sameCoordinator: false))
                    case .message(let frames): core.take(frames)
                    case .ended: core.handle(.detached(reason: "the coordinator is being stopped"))
                    }
                })
        })
    }
}

/// Carries a connection's messages to a coordinator in this process.
private final class LocalCarrier: MessageCarrier {
    private let link: LocalLink

    init(_ link: LocalLink) { self.link = link }

    deinit { link.close() }

    /// It is the only one.
    func enter() {}

    func send(_ message: WirePeerMessage, attachment: Buffer?) {
        do throws(WireError) {
            link.send(try message.frames(attachment: attachment))
        } catch {
            // Requests of this server are far below what fits a message: graphs travel in parts.
            preconditionFailure("a message of \(message.body.map { "\($0)".prefix(40) } ?? "no kind") cannot be sent: \(error)")
        }
    }
}

extension ConnectionCore {
    fileprivate func take(_ frames: [Buffer]) {
        do throws(WireError) {
            handle(.message(try WireCoordinatorMessage(frames: frames), attachment: frames.count > 1 ? frames[1] : nil))
        } catch {
            preconditionFailure("the coordinator's own message cannot be read: \(error)")
        }
    }
}
