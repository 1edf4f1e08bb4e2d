import Testing
import Wire

/// Transitions as tables: at a time, an input, and the actions it must give.
@Suite struct PeerSessionTests {
    enum Input {
        case start
        case connected
        case helloSent
        case heartbeatSent
        case lost(String)
        case message(WireCoordinatorMessage)
        case tick
        case close
    }

    struct Row {
        let at: Int64
        let input: Input
        let actions: [PeerSession.Action]
        let line: Int

        init(_ at: Int64, _ input: Input, _ actions: [PeerSession.Action], line: Int = #line) {
            self.at = at
            self.input = input
            self.actions = actions
            self.line = line
        }
    }

    static func feed(_ session: inout PeerSession, _ input: Input, at now: Int64) -> [PeerSession.Action] {
        switch input {
        case .start: session.start(at: now)
        case .connected: session.connected(at: now)
        case .helloSent: session.helloSent(at: now)
        case .heartbeatSent: session.heartbeatSent(at: now)
        case .lost(let reason): session.lost(reason, at: now)
        case .message(let message): session.receive(message, at: now)
        case .tick: session.tick(at: now)
        case .close: session.close()
        }
    }

    @discardableResult
    static func run(_ rows: [Row], on session: PeerSession = PeerSession()) -> PeerSession {
        var session = session
        for row in rows {
            let actions = feed(&session, row.input, at: row.at)
            #expect(actions == row.actions, "line \(row.line): \(row.input) at \(row.at)")
        }
        return session
    }

    static let welcome = WireWelcome.with {
        $0.epoch = 7
        $0.coordinatorIncarnation = 42
        $0.heartbeatMilliseconds = 1000
        $0.leaseMilliseconds = 3000
        $0.orphanLimitMilliseconds = 10_000
    }
    static let welcomed = WireCoordinatorMessage.with { $0.welcome = welcome }
    static let dispatch = WireCoordinatorMessage.with { $0.dispatch = .init() }
    static func answer(_ sentAt: Int64) -> WireCoordinatorMessage { .with { $0.heartbeatAnswer = .with { $0.sentAt = UInt64(sentAt) } } }
    static func refusal(_ code: WireRefusal.Code, _ text: String = "no") -> WireRefusal {
        .with {
            $0.code = code; $0.message = text
        }
    }

    /// From the start to a welcome: the hello left at 10, the welcome came at 20.
    static let attaching = [
        Row(0, .start, [.connect]),
        Row(5, .connected, [.sayHello]),
        Row(10, .helloSent, []),
        Row(20, .message(welcomed), [.emit(.attached(welcome, sameCoordinator: false))]),
    ]

    @Test func attaches_afterConnectHelloAndWelcome() {
        let session = Self.run(Self.attaching)
        #expect(session.isAttached)
        #expect(session.lastCoordinator == 42)
        #expect(session.deadline == 1020)
    }

    @Test func attempts_areRepeatedWithRisingPauses() {
        var session = PeerSession()
        #expect(session.start(at: 0) == [.connect])
        var now: Int64 = 0
        for pause: Int64 in [50, 100, 200, 400, 500, 500] {
            #expect(session.lost("refused", at: now) == [.disconnect, .emit(.detached(reason: "refused"))])
            #expect(session.deadline == now + pause)
            #expect(session.tick(at: now + pause - 1) == [])
            now += pause
            #expect(session.tick(at: now) == [.connect])
        }
    }

    @Test func aWelcome_resetsThePauses() {
        var session = PeerSession()
        _ = session.start(at: 0)
        _ = session.lost("refused", at: 0)
        _ = session.tick(at: 50)
        _ = session.lost("refused", at: 50)
        _ = session.tick(at: 150)
        Self.run(
            [
                Row(160, .connected, [.sayHello]), Row(161, .helloSent, []),
                Row(170, .message(Self.welcomed), [.emit(.attached(Self.welcome, sameCoordinator: false))]),
                Row(180, .lost("gone"), [.disconnect, .emit(.detached(reason: "gone"))]),
                Row(229, .tick, []),
                Row(230, .tick, [.connect]),
            ], on: session)
    }

    @Test func eachStepOfGreeting_hasItsTimeLimit() {
        Self.run([
            Row(0, .start, [.connect]),
            Row(999, .tick, []),
            Row(1000, .tick, [.disconnect, .emit(.detached(reason: "no connection within 1000 ms"))]),
            Row(1050, .tick, [.connect]),
            Row(1060, .connected, [.sayHello]),
            Row(3059, .tick, []),
            Row(3060, .tick, [.disconnect, .emit(.detached(reason: "this process did not make its hello within 2000 ms"))]),
            Row(3160, .tick, [.connect]),
            Row(3161, .connected, [.sayHello]),
            Row(3162, .helloSent, []),
            Row(5161, .tick, []),
            Row(5162, .tick, [.disconnect, .emit(.detached(reason: "connected, but not welcomed within 2000 ms"))]),
        ])
    }

    @Test func beforeTheWelcome_otherMessagesAreNotDelivered() {
        Self.run([
            Row(0, .start, [.connect]), Row(1, .connected, [.sayHello]), Row(2, .helloSent, []),
            Row(3, .message(Self.dispatch), []),
            Row(4, .message(Self.answer(2)), []),
        ])
    }

    @Test func attached_deliversWhatIsForThePeer() {
        let messages: [WireCoordinatorMessage] = [
            Self.dispatch, .with { $0.stop = .init() }, .with { $0.acknowledgement = .init() }, .with { $0.blobRequest = .init() },
            .with { $0.blobChunk = .init() }, .with { $0.response = .init() }, .with { $0.events = .init() },
        ]
        Self.run(
            Self.attaching + messages.map { Row(30, .message($0), [.deliver]) } + [
                Row(31, .message(Self.welcomed), []), Row(32, .message(.init()), []),
            ])
    }

    @Test func heartbeats_goOutOncePerInterval() {
        Self.run(
            Self.attaching + [
                Row(1019, .tick, []),
                Row(1020, .tick, [.beat]),
                Row(1020, .heartbeatSent, []),
                Row(1030, .message(Self.answer(1020)), []),
                Row(1031, .tick, []),
                Row(2020, .tick, [.beat]),
            ])
    }

    @Test func leaseCountsFromTheSendingOfTheLastAnsweredHeartbeat() {
        Self.run(
            Self.attaching + [
                Row(1020, .tick, [.beat]), Row(1020, .heartbeatSent, []),
                Row(1900, .message(Self.answer(1020)), []),
                Row(2020, .tick, [.beat]), Row(2020, .heartbeatSent, []),
                // Other messages keep the connection, not the lease.
                Row(3020, .tick, [.beat]), Row(3020, .heartbeatSent, []),
                Row(3900, .message(Self.dispatch), [.deliver]),
                Row(4019, .tick, []),
                Row(4020, .tick, [.emit(.leaseOver), .beat]),
                Row(4500, .tick, []),
            ])
    }

    @Test func leaseOfTheFirstSession_countsFromTheHello() {
        Self.run(
            Self.attaching + [
                Row(100, .lost("gone"), [.disconnect, .emit(.detached(reason: "gone"))]),
                Row(150, .tick, [.connect]),
                Row(1150, .tick, [.disconnect, .emit(.detached(reason: "no connection within 1000 ms"))]),
                Row(1250, .tick, [.connect]),
                Row(2250, .tick, [.disconnect, .emit(.detached(reason: "no connection within 1000 ms"))]),
                Row(3009, .tick, [.connect]),
                Row(3010, .tick, [.emit(.leaseOver)]),
                Row(3011, .tick, []),
                Row(9000, .lost("refused"), [.disconnect, .emit(.detached(reason: "refused"))]),
                Row(10_009, .tick, [.connect]),
                Row(10_010, .tick, [.emit(.orphanLimitOver)]),
                Row(10_011, .tick, []),
            ])
    }

    /// A process that stood still finds it when it goes on: the coordinator has counted from the hello.
    @Test func aWelcomeAfterItsOwnLease_leadsToANewHello() {
        Self.run([
            Row(0, .start, [.connect]),
            Row(5, .connected, [.sayHello]),
            Row(10, .helloSent, []),
            Row(
                3010, .message(Self.welcomed),
                [.disconnect, .emit(.detached(reason: "the welcome came when its lease was over; saying hello again"))]),
            Row(3010, .tick, [.connect]),
            Row(3011, .connected, [.sayHello]),
            Row(3012, .helloSent, []),
            Row(3013, .message(Self.welcomed), [.emit(.attached(Self.welcome, sameCoordinator: false))]),
        ])
    }

    @Test func neverWelcomed_hasNoLease() {
        Self.run([
            Row(0, .start, [.connect]),
            Row(1000, .tick, [.disconnect, .emit(.detached(reason: "no connection within 1000 ms"))]),
            Row(1_000_000, .tick, [.connect]),
            Row(1_000_500, .tick, []),
        ])
    }

    @Test func silence_endsTheSessionWithTheLease() {
        Self.run(
            Self.attaching + [
                Row(1020, .tick, [.beat]), Row(2020, .tick, [.beat]),
                Row(3010, .tick, [.emit(.leaseOver)]),
                Row(3020, .tick, [.disconnect, .emit(.detached(reason: "nothing was heard from the coordinator for 3000 ms"))]),
                Row(3070, .tick, [.connect]),
            ])
    }

    /// Who holds nothing under a lease may wait for a coordinator that is busy with what it was sent.
    @Test func whoMayWaitLonger_goesOnWhenTheAnswerComesBeforeThat() {
        var configuration = PeerSession.Configuration()
        configuration.leaseMinimumMilliseconds = 5000
        Self.run(
            Self.attaching + [
                Row(1020, .tick, [.beat]), Row(1020, .heartbeatSent, []),
                Row(2020, .tick, [.beat]), Row(2020, .heartbeatSent, []),
                Row(4900, .message(Self.answer(1020)), []), Row(4900, .message(Self.answer(2020)), []),
                Row(7019, .tick, [.beat]), Row(7020, .tick, [.emit(.leaseOver)]),
                Row(9900, .tick, [.disconnect, .emit(.detached(reason: "nothing was heard from the coordinator for 5000 ms"))]),
            ], on: PeerSession(configuration))
    }

    @Test func anAnswerAfterTheLease_leadsToANewHello() {
        Self.run(
            Self.attaching + [
                Row(1020, .tick, [.beat]), Row(1020, .heartbeatSent, []),
                Row(2900, .message(Self.dispatch), [.deliver]),
                Row(3010, .tick, [.emit(.leaseOver), .beat]),
                Row(3011, .heartbeatSent, []),
                Row(
                    3050, .message(Self.answer(3011)),
                    [.disconnect, .emit(.detached(reason: "heartbeats were not answered for longer than the lease; saying hello again"))]),
                Row(3050, .tick, [.connect]),
                Row(3051, .connected, [.sayHello]),
                Row(3052, .helloSent, []),
                Row(3053, .message(Self.welcomed), [.emit(.attached(Self.welcome, sameCoordinator: true))]),
            ])
    }

    @Test func anAnswerInHand_countsBeforeTheLeaseIsJudged() {
        Self.run(
            Self.attaching + [
                Row(1020, .tick, [.beat]), Row(1020, .heartbeatSent, []),
                Row(3500, .message(Self.answer(1020)), []),
                Row(3500, .tick, [.beat]),
                Row(4020, .tick, [.emit(.leaseOver), .beat]),
            ])
    }

    @Test(arguments: [UInt64(0), 9, 1021, 5000, .max]) func anAnswerToNothingWeSent_renewsNothing(sentAt: UInt64) {
        Self.run(
            Self.attaching + [
                Row(1020, .tick, [.beat]), Row(1020, .heartbeatSent, []),
                Row(2500, .message(.with { $0.heartbeatAnswer = .with { $0.sentAt = sentAt } }), []),
                Row(3010, .tick, [.emit(.leaseOver), .beat]),
            ])
    }

    @Test func afterReattachment_theLimitsCanComeAgain() {
        Self.run(
            Self.attaching + [
                Row(
                    3020, .tick,
                    [.emit(.leaseOver), .disconnect, .emit(.detached(reason: "nothing was heard from the coordinator for 3000 ms"))]),
                Row(3070, .tick, [.connect]), Row(3071, .connected, [.sayHello]), Row(3072, .helloSent, []),
                Row(3080, .message(Self.welcomed), [.emit(.attached(Self.welcome, sameCoordinator: true))]),
                Row(3090, .lost("gone"), [.disconnect, .emit(.detached(reason: "gone"))]),
                Row(3140, .tick, [.connect]),
                Row(6072, .tick, [.emit(.leaseOver), .disconnect, .emit(.detached(reason: "no connection within 1000 ms"))]),
            ])
    }

    @Test func aFrozenProcess_isToldEverythingAtOnceWhenItThaws() {
        Self.run(
            Self.attaching + [
                Row(
                    60_000, .tick,
                    [
                        .emit(.leaseOver), .emit(.orphanLimitOver), .disconnect,
                        .emit(.detached(reason: "nothing was heard from the coordinator for 3000 ms")),
                    ])
            ])
    }

    @Test func messagesThatEndASession() {
        for message: WireCoordinatorMessage in [.with { $0.helloWanted = .init() }] {
            Self.run(
                Self.attaching + [
                    Row(
                        30, .message(message),
                        [.disconnect, .emit(.detached(reason: "the coordinator does not know this connection (any more)"))]),
                    Row(80, .tick, [.connect]),
                ])
        }
        Self.run(
            Self.attaching + [
                Row(
                    30, .message(.with { $0.farewell = .with { $0.reason = "SIGTERM" } }),
                    [.emit(.farewell("SIGTERM")), .disconnect, .emit(.detached(reason: "the coordinator has stopped: SIGTERM"))]),
                Row(80, .tick, [.connect]),
            ])
    }

    @Test(arguments: [WireRefusal.Code.unspecified, .version, .cookie, .malformed, .notPermitted, .UNRECOGNIZED(99)])
    func aFinalRefusal_stops(code: WireRefusal.Code) {
        let refusal = Self.refusal(code)
        Self.run([
            Row(0, .start, [.connect]), Row(1, .connected, [.sayHello]), Row(2, .helloSent, []),
            Row(3, .message(.with { $0.refusal = refusal }), [.disconnect, .emit(.refused(refusal)), .stop]),
            Row(100_000, .tick, []), Row(100_001, .lost("late"), []), Row(100_002, .close, []),
        ])
    }

    @Test(arguments: [WireRefusal.Code.version, .notPermitted]) func whoWasWelcomed_outlastsRefusalsThatMayBeTakenBack(
        code: WireRefusal.Code
    ) {
        var configuration = PeerSession.Configuration()
        configuration.afterRefusal = .tryOnOnceWelcomed
        let refused = WireCoordinatorMessage.with { $0.refusal = Self.refusal(code) }
        let denied: [PeerSession.Action] = [.emit(.denied(reason: "no")), .disconnect, .emit(.detached(reason: "no", isThere: true))]
        Self.run(
            Self.attaching + [
                Row(
                    30, .message(.with { $0.helloWanted = .init() }),
                    [.disconnect, .emit(.detached(reason: "the coordinator does not know this connection (any more)"))]),
                Row(80, .tick, [.connect]), Row(81, .connected, [.sayHello]), Row(82, .helloSent, []), Row(83, .message(refused), denied),
                Row(182, .tick, []), Row(183, .tick, [.connect]), Row(184, .connected, [.sayHello]), Row(185, .helloSent, []),
                Row(186, .message(Self.welcomed), [.emit(.attached(Self.welcome, sameCoordinator: true))]),
            ], on: PeerSession(configuration))
        let greeting = [Row(0, .start, [.connect]), Row(1, .connected, [.sayHello]), Row(2, .helloSent, [])]
        let end: [PeerSession.Action] = [.disconnect, .emit(.refused(Self.refusal(code))), .stop]
        Self.run(greeting + [Row(3, .message(refused), end)], on: PeerSession(configuration))
        configuration.afterRefusal = .tryOn
        Self.run(greeting + [Row(3, .message(refused), denied)], on: PeerSession(configuration))
        Self.run(Self.attaching + [Row(30, .message(refused), end)])
    }

    @Test(arguments: [WireRefusal.Code.unspecified, .cookie, .malformed, .UNRECOGNIZED(99)]) func otherFinalRefusals_stopWhoWasWelcomed(
        code: WireRefusal.Code
    ) {
        var configuration = PeerSession.Configuration()
        configuration.afterRefusal = .tryOn
        let refusal = Self.refusal(code)
        Self.run(
            Self.attaching + [Row(30, .message(.with { $0.refusal = refusal }), [.disconnect, .emit(.refused(refusal)), .stop])],
            on: PeerSession(configuration))
    }

    @Test(arguments: [WireRefusal.Code.superseded, .limit]) func aRefusalThatMayPass_isTriedAgain(code: WireRefusal.Code) {
        Self.run([
            Row(0, .start, [.connect]), Row(1, .connected, [.sayHello]), Row(2, .helloSent, []),
            Row(
                3, .message(.with { $0.refusal = Self.refusal(code, "full") }),
                [.disconnect, .emit(.detached(reason: "full", isThere: true))]),
            Row(53, .tick, [.connect]),
        ])
    }

    /// Who listens there cannot tell now whom it lets in: nobody has to start another one.
    @Test func coordinatorThatHasAnObstacle_isThere() {
        var session = PeerSession()
        #expect(session.start(at: 0) == [.connect])
        #expect(session.lost("later", isThere: true, at: 1) == [.disconnect, .emit(.detached(reason: "later", isThere: true))])
        #expect(session.tick(at: 51) == [.connect])
        #expect(session.lost("nobody", at: 52) == [.disconnect, .emit(.detached(reason: "nobody"))])
    }

    @Test func aDeniedKey_isTold_andTriedEverMoreSeldom() {
        var session = PeerSession()
        #expect(session.start(at: 0) == [.connect])
        var pauses: [Int64] = []
        var now: Int64 = 0
        for _ in 0..<10 {
            #expect(
                session.denied("no", at: now) == [.emit(.denied(reason: "no")), .disconnect, .emit(.detached(reason: "no", isThere: true))])
            pauses.append((session.deadline ?? 0) - now)
            now = session.deadline ?? 0
            #expect(session.tick(at: now) == [.connect])
        }
        #expect(pauses == [50, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000])
    }

    @Test func aRevokedKey_isDenied() {
        Self.run(
            Self.attaching + [
                Row(
                    30, .message(.with { $0.refusal = Self.refusal(.revoked, "out") }),
                    [.emit(.denied(reason: "out")), .disconnect, .emit(.detached(reason: "out", isThere: true))]),
                Row(80, .tick, [.connect]),
            ])
    }

    @Test func close_isFinalFromEverywhere() {
        let lists: [[Row]] = [
            [], [Row(0, .start, [.connect])], Self.attaching,
            Self.attaching + [Row(30, .lost("x"), [.disconnect, .emit(.detached(reason: "x"))])],
        ]
        for rows in lists {
            let session = Self.run(
                rows + [Row(50, .close, [.stop]), Row(60, .close, []), Row(10_000_000, .tick, []), Row(10_000_001, .start, [])])
            #expect(session.deadline == nil)
        }
    }

    @Test func nonsensicalTimes_areLifted() {
        let hasty = WireWelcome.with {
            $0.heartbeatMilliseconds = 1; $0.leaseMilliseconds = 1; $0.orphanLimitMilliseconds = 1
        }
        let session = Self.run([
            Row(0, .start, [.connect]), Row(0, .connected, [.sayHello]), Row(0, .helloSent, []),
            Row(0, .message(.with { $0.welcome = hasty }), [.emit(.attached(hasty, sameCoordinator: false))]),
            Row(9, .tick, []), Row(10, .tick, [.beat]),
        ])
        #expect(session.isAttached)
    }

    /// Whatever comes in whatever order: no trap, the limits come in order and once per welcome, and nothing after the end.
    @Test(arguments: 0..<200) func anyOrderOfInputs_keepsTheRules(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var session = PeerSession()
        var now: Int64 = 0
        var limits = 0
        var hasStopped = false
        for _ in 0..<400 {
            now += Int64.random(in: 0...1500, using: &random)
            let inputs: [Input] = [
                .start, .connected, .connected, .helloSent, .helloSent, .heartbeatSent, .tick, .tick, .lost("x"), .message(Self.welcomed),
                .message(Self.welcomed), .message(Self.answer(now - Int64.random(in: 0...3000, using: &random) + 3000)),
                .message(Self.dispatch),
                .message(.with { $0.helloWanted = .init() }), .message(.with { $0.farewell = .init() }),
            ]
            guard let input = inputs.randomElement(using: &random) else { return }
            for action in Self.feed(&session, input, at: now) + session.tick(at: now) {
                #expect(!hasStopped, "seed \(seed): \(action) after the end")
                switch action {
                case .emit(.attached): limits = 0
                case .emit(.leaseOver):
                    #expect(limits == 0, "seed \(seed)")
                    limits = 1
                case .emit(.orphanLimitOver):
                    #expect(limits == 1, "seed \(seed)")
                    limits = 2
                case .stop: hasStopped = true
                case .connect, .sayHello, .beat, .disconnect, .emit, .deliver: break
                }
            }
            // Or the shell would turn without a pause.
            if let deadline = session.deadline { #expect(deadline > now, "seed \(seed): after a tick a deadline of the past is left") }
        }
    }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
