import AOperation
import Executing
import Wire

/// What a body sends while it runs.
struct SimulatedSending {
    /// Lets in what is not on the coordinator's disk, up to a limit.
    let gate: ElementGate
    let count: Int
    let gapMilliseconds: Int64
    var sent = 0
    /// The gate has no room.
    var isHeld = false

    static let windowBytes = 400
}

/// What a body receives while another one sends.
struct SimulatedReading {
    var pages: StreamPages
    var reading = StreamWitness.Reading()
    /// It reads so many and no more; nil: all.
    let wanted: Int?
    let gapMilliseconds: Int64
    /// What it has asked and not been answered.
    var question: UInt64?
    var isOver = false
}

extension SimulatedExecutor.Body {
    /// Nothing more is sent, and no more read.
    mutating func endsAtOnce() {
        sending = sending.map { SimulatedSending(gate: $0.gate, count: $0.sent, gapMilliseconds: 0, sent: $0.sent) }
        reading?.isOver = true
    }

    /// A failure, and what it was told to do, waits for nothing.
    var hasSaidAll: Bool {
        if case .failure = ending { return true }
        return (sending.map { $0.sent >= $0.count } ?? true) && (reading?.isOver ?? true)
    }
}

/// Partial results: the desks and spools are those of a real executor; only who sends and reads is simulated.
extension SimulatedExecutor {
    func makeDesk() -> StreamDesk {
        StreamDesk(
            send: { [unowned self] request in
                guard session.isAttached, let connection else { return }
                world.send(.with { $0.request = request }, on: connection, from: self)
            },
            later: { [unowned self] again in
                world.violate("\(name) is told to ask again later"); again()
            })
    }

    func beginStreams(_ number: Int, _ work: RandomWork.Body) {
        guard let body = bodies[number], body.assignment.kind == .execute else { return }
        if let elements = work.elements {
            let gate = ElementGate(windowBytes: SimulatedSending.windowBytes)
            self.elements.open(body.key, gate, sent: { 0 })
            bodies[number]?.sending = SimulatedSending(gate: gate, count: elements.count, gapMilliseconds: elements.gapMilliseconds)
            world.streams.sends(body.assignment)
            sendLater(number)
        }
        if body.assignment.hasStream {
            bodies[number]?.reading = SimulatedReading(
                pages: StreamPages(attempt: body.assignment.stream.attemptNumber), wanted: work.wanted,
                gapMilliseconds: work.readingMilliseconds)
            if work.wanted == 0 { readsNoMore(number, isWhole: false) } else { askForPage(number) }
        }
    }

    func forgetStreams(of body: Body) {
        if body.sending != nil { elements.receive(.closed, of: body.key) }
        if let question = body.reading?.question { desk.forget(question) }
    }

    // MARK: Sending

    private func sendLater(_ number: Int) {
        guard let sending = bodies[number]?.sending, sending.sent < sending.count else { return }
        world.put(.bodySends(self, body: number), at: now + world.random.below(sending.gapMilliseconds + 1))
    }

    func bodySends(_ number: Int) { turn { $0.sendNext(number) } }

    /// There may be room again.
    func sendOn() {
        for number in bodies.keys.sorted() where bodies[number]?.sending?.isHeld == true {
            bodies[number]?.sending?.isHeld = false
            sendNext(number)
        }
    }

    private func sendNext(_ number: Int) {
        guard let body = bodies[number], let sending = body.sending, sending.sent < sending.count, !sending.isHeld else { return }
        let element = WireElement.with {
            $0.index = UInt64(sending.sent)
            $0.encoding = .text
            $0.bytes = .init(StreamWitness.element(sending.sent, of: body.assignment.attempt).utf8)
        }
        switch sending.gate.tryEnter(bytes: element.spooledBytes) {
        case .waits: bodies[number]?.sending?.isHeld = true
        // Nobody wants it any more.
        case .isOver:
            bodies[number]?.sending?.sent = sending.count
            endIfDone(number)
        case .isIn:
            bodies[number]?.sending?.sent += 1
            world.streams.sent(by: body.assignment.attempt)
            elements.receive(.element(element), of: body.key)
            sendLater(number)
            endIfDone(number)
        }
    }

    // MARK: Reading

    private func askForPage(_ number: Int) {
        guard let body = bodies[number], let reading = body.reading, !reading.isOver else { return }
        let request = WireReadElements.with {
            $0.submission = body.assignment.submission
            $0.path = body.assignment.stream.path
            $0.attempt = reading.pages.attempt
            $0.index = reading.pages.index
            $0.wait = true
        }
        // One simulation is of one thread.
        nonisolated(unsafe) let executor = self
        bodies[number]?.reading?.question = desk.ask(request) { executor.receive($0, number) }
    }

    private func receive(_ answer: Result<WireElementPage, StreamRefused>, _ number: Int) {
        guard bodies[number]?.reading != nil else { return }
        bodies[number]?.reading?.question = nil
        switch answer {
        case .success(let page):
            bodies[number]?.reading?.pages.read(page)
            world.put(.bodyReads(self, body: number), at: now + world.random.below((bodies[number]?.reading?.gapMilliseconds ?? 0) + 1))
        // It was given up long ago, while this executor could not be heard, and all of it has ended: it is about to be stopped.
        case .failure where bodies[number].map({ world.witness.isForgotten($0.assignment.submission) }) == true: break
        case .failure(let refused): world.violate("\(name) cannot read a stream: \(refused.reason)")
        }
    }

    func bodyReads(_ number: Int) { turn { $0.readOn(number) } }

    private func readOn(_ number: Int) {
        while let body = bodies[number], let reading = body.reading, !reading.isOver, let event = bodies[number]?.reading?.pages.take() {
            let path = "\(body.assignment.submission)/\(body.assignment.path)"
            switch event {
            case .element(let value, let index):
                var seen = reading.reading
                if let problem = world.streams.receives(value, at: index, of: body.assignment, &seen) {
                    world.violate("\(path) \(problem)")
                }
                bodies[number]?.reading?.reading = seen
                if seen.count == reading.wanted { readsNoMore(number, isWhole: false) }
            case .missed(let count): world.violate("\(path) misses \(count) elements")
            case .voided:
                // As a program sees it: an error.
                bodies[number]?.ending = .failure([RandomWork.failure("the stream is void")])
                bodies[number]?.reading?.isOver = true
                endIfDone(number)
            case .ended: readsNoMore(number, isWhole: true)
            }
        }
        askForPage(number)
    }

    private func readsNoMore(_ number: Int, isWhole: Bool) {
        guard let body = bodies[number], let reading = body.reading else { return }
        bodies[number]?.reading?.isOver = true
        world.streams.received(body.assignment, reading.reading, isWhole: isWhole)
        endIfDone(number)
    }
}
