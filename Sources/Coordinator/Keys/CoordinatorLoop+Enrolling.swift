import Wire

/// Hosts that join with a token.
extension CoordinatorLoop {
    /// Takes what comes from a connection with a join token's key, and whatever asks to be enrolled. A token enrols, and does nothing else.
    ///
    /// - Returns: whether it was that.
    func tookFromJoiner(_ wire: WirePeerMessage, _ message: RouterMessage) -> Bool {
        if case .enrol(let enrol) = wire.body {
            exchange(enrol, message)
            return true
        }
        guard let enrolment = message.key.flatMap({ gatekeeper?.enrolment(of: $0) }) else { return false }
        refuse(
            message, .notPermitted,
            "the join token for `\(enrolment.name)` enrols a host (`aop keys join`) and may do nothing else; use the key that it is exchanged for"
        )
        return true
    }

    private func exchange(_ enrol: WireEnrol, _ message: RouterMessage) {
        guard let gatekeeper, let enrolments, let token = message.key else {
            return refuse(
                message, .notPermitted,
                "who has no join token cannot be enrolled; `aop keys token NAME` on the coordinator's host, \(KeyDirectory.unnamed), makes one"
            )
        }
        guard enrol.protocolMajor == ProtocolVersion.major else {
            return refuse(
                message, .version,
                "this coordinator (aop \(ProductVersion.current)) speaks protocol \(ProtocolVersion.major), the joining host "
                    + "(aop \(enrol.productVersion.prefix(40))) speaks \(enrol.protocolMajor); install the same release on both")
        }
        guard let key = PublicKey(enrol.publicKey) else {
            return refuse(message, .malformed, "the joining host's key is no public key of \(PublicKey.characters) characters")
        }
        // It would be in the list, with which no coordinator starts.
        guard key != gatekeeper.ownKey else { return refuse(message, .notPermitted, "\(KeyError.ownKey(key))") }
        guard gatekeeper.isReadable else { return refuse(message, .unavailable, Self.unwritable) }
        // What is in memory tells what a token is good for: only one that is open costs a look at the file.
        var keys = gatekeeper.keys
        switch keys.enrol(key, for: token, at: now.wall) {
        case .refused(let refusal): refuse(message, .notPermitted, "\(refusal)", for: key)
        case .repeated(let principal): answer(principal, message.routingID)
        case .enrolled:
            guard enrolling.insert(token).inserted else {
                return refuse(message, .unavailable, "this join token is being used just now", for: key)
            }
            enrolments.post(
                EnrolmentDesk.Request(token: token, key: key, route: message.routingID, address: message.address ?? Self.nowhere))
        }
    }

    /// The file has been changed, or not.
    func receive(_ event: EnrolmentDesk.Event) {
        let request = event.request
        enrolling.remove(request.token)
        // The new key is let in when the host is told so.
        refreshKeys()
        switch event.result {
        case .success(.enrolled(let principal)), .success(.repeated(let principal)): answer(principal, request.route)
        case .success(.refused(let refusal)): refuse(request, .notPermitted, "\(refusal)")
        case .failure(let error):
            counters.note(
                .keys, from: request.source, "\(request.address) was not enrolled, since the authorised keys cannot be changed: \(error)",
                now.boot, logger)
            refuse(request, .unavailable, Self.unwritable)
        }
    }

    private static let nowhere = "(unknown)"
    private static let unwritable = "its file of authorised keys cannot be read or changed; its log says why"

    private func answer(_ principal: Principal, _ route: RoutingID) {
        sendOnce(
            .with {
                $0.enrolled = .with {
                    $0.name = principal.name
                    $0.roles = principal.roleNames
                }
            }, to: route)
    }

    /// - Parameter key: the joiner's own, if it has come so far.
    private func refuse(_ message: RouterMessage, _ code: WireRefusal.Code, _ text: String, for key: PublicKey? = nil) {
        let token = message.key.map { "with the key \($0)" } ?? "without a key"
        let who = "\(message.address ?? Self.nowhere), \(token)\(key.map { " for \($0)" } ?? "")"
        refuse(message.routingID, message.source, who, code, text)
    }

    private func refuse(_ request: EnrolmentDesk.Request, _ code: WireRefusal.Code, _ text: String) {
        refuse(request.route, request.source, "\(request.address), with the key \(request.token) for \(request.key)", code, text)
    }

    private func refuse(_ route: RoutingID, _ source: LogSource, _ who: String, _ code: WireRefusal.Code, _ text: String) {
        counters.note(code == .notPermitted ? .notPermitted : .refused, from: source, "\(who): \(logged(text))", now.boot, logger)
        sendOnce(
            .with {
                $0.refusal = .with {
                    $0.code = code
                    $0.message = text
                }
            }, to: route)
    }
}
