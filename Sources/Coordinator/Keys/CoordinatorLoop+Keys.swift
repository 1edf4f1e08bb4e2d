import Scheduling
import Wire

/// Connections that ask to be let in, and keys that change.
extension CoordinatorLoop {
    func answerHandshakes() throws {
        guard let gatekeeper else { return }
        refreshKeys()
        for _ in 0..<CoordinatorLimits.handshakesPerRound {
            guard let request = try gatekeeper.zap.receive() else { return }
            let verdict = gatekeeper.verdict(on: request.key, at: now.wall)
            try gatekeeper.zap.answer(request, verdict)
            let source = LogSource(key: request.key, address: request.address)
            switch verdict {
            case .allowed: break
            case .denied: counters.note(.denied, from: source, denial(of: request, gatekeeper), now.boot, logger)
            case .unavailable:
                counters.note(
                    .denied, from: source, "\(request.address) was not let in: \(gatekeeper.path) cannot be read", now.boot, logger)
            }
        }
    }

    private func denial(of request: ZAPRequest, _ gatekeeper: Gatekeeper) -> String {
        let key = request.key?.text ?? "(none)"
        // Whoever reads the log may be another user than the coordinator's, with another standard folder.
        let directory = gatekeeper.directory
        if let enrolment = request.key.flatMap({ gatekeeper.enrolment(of: $0) }) {
            return "the join token \(key) for `\(enrolment.name)`, from \(request.address), has expired: it was valid until "
                + "\(enrolment.untilText); `aop keys token \(enrolment.name) --dir \(directory.shellWord)` makes another one"
        }
        return "the key \(key), from \(request.address), is not authorised; "
            + "`aop keys authorize NAME '\(key)' --role ROLE --dir \(directory.shellWord)` lets it in"
    }

    /// Who is connected with a key that is not authorised any more goes at once; who may do something else says hello again.
    func refreshKeys() {
        guard let gatekeeper else { return }
        switch gatekeeper.refresh(at: now.boot) {
        case .none: return
        // Not through the counters, which may keep quiet: it is said once.
        case .unreadable(let error): logger.error("nobody new is let in, since the authorised keys cannot be read: \(error)")
        case .readableAgain: logger.notice("the authorised keys can be read again")
        case .changed(let changes):
            logger.notice("the authorised keys have changed\(changes.isEmpty ? "" : ": \(changes)")")
            for peer in peers.all {
                guard let before = peer.principal else { continue }
                let after = gatekeeper.principal(of: before.key)
                if after == nil {
                    revoke(peer, before)
                } else if after != before {
                    sendOnce(.with { $0.helloWanted = WireHelloWanted() }, to: peer.routingID)
                    forget(peer, "what its key may do has changed")
                }
            }
            // Those that are not connected now.
            for (incarnation, key) in executorKeys where gatekeeper.principal(of: key) == nil {
                executorKeys[incarnation] = nil
                inputs.append(.barred(Incarnation(incarnation), .revoked))
            }
        }
    }

    /// An executor that is known under this very key is refused for what the key may do.
    func noteLimited(_ hello: WireHello, _ key: PublicKey?) {
        guard hello.role == .executor, let key, executorKeys[hello.incarnation] == key else { return }
        inputs.append(.barred(Incarnation(hello.incarnation), .limited))
    }

    private func revoke(_ peer: Peer, _ principal: Principal) {
        logger.notice("\(peer.place): the key of \(principal.title) was revoked; its connection is ended")
        sendOnce(.with { $0.refusal = Self.revoked(principal.key) }, to: peer.routingID)
        forget(peer, "its key was revoked", isRevoked: true)
    }

    static func revoked(_ key: PublicKey) -> WireRefusal {
        .with {
            $0.code = .revoked
            $0.message =
                "the key \(key) is not authorised any more; `aop keys authorize` on the coordinator's host, \(KeyDirectory.unnamed), lets it in again"
        }
    }

    /// What a peer is told, for the log: with the directory that its commands have to name.
    func logged(_ refusal: String) -> String {
        gatekeeper.map { refusal.replacing(KeyDirectory.unnamed, with: "with --dir \($0.directory.shellWord)") } ?? refusal
    }

    /// Whether the message is from whom its connection belongs to: routing ids can be chosen by those who connect.
    func isAuthentic(_ message: RouterMessage, of peer: Peer) -> Bool {
        guard gatekeeper != nil, !message.isSent(with: peer.principal?.key) else { return true }
        counters.note(
            .notPermitted, from: message.source,
            "a message\(message.source.text), with the routing id of \(peer.place), but not with its key",
            now.boot, logger)
        return false
    }

    /// Who says hello; a refusal where the key is of no use for that.
    func principal(of hello: WireHello, _ message: RouterMessage) -> Result<Principal?, HelloRefusal> {
        guard let gatekeeper, let key = message.key else { return .success(nil) }
        guard let principal = gatekeeper.principal(of: key) else { return .failure(HelloRefusal(Self.revoked(key))) }
        if let text = principal.refusal(of: hello) { return .failure(.notPermitted(text)) }
        let others = peers.peers(ofIncarnation: hello.incarnation) { $0.principal?.name != principal.name }
        guard others.isEmpty else {
            return .failure(.notPermitted("\(principal.title) says hello as a process that is connected with another key"))
        }
        return .success(principal)
    }
}

/// Why a hello is of no use.
struct HelloRefusal: Error {
    let wire: WireRefusal

    init(_ wire: WireRefusal) { self.wire = wire }

    static func notPermitted(_ text: String) -> HelloRefusal {
        HelloRefusal(
            .with {
                $0.code = .notPermitted
                $0.message = "\(text) (`aop keys authorize` on the coordinator's host, \(KeyDirectory.unnamed))"
            })
    }
}
