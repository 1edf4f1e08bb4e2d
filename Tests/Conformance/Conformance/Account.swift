/// A history sorted by node: what the rules ask.
package struct Account {
    /// One run of a body.
    struct Run {
        var node: Int
        var number: Int
        /// The places of its start and end among the events; one whose process was killed has ended by that. One that has no
        /// end breaks a rule of its own, and counts as a moment for all others.
        var start: Int
        var end: Int
        var received: Received?
        var tokens: [String: UInt64]
        var result: BodyEnd?
        /// Its process was killed: whatever it did, it may have been in vain.
        var isDoubtful: Bool
    }

    struct Judgement {
        var place: Int
        /// Scripted conditions of a node are counted through, those inside of others included.
        var condition: Int
        var verdict: Verdict
    }

    let plan: GraphPlan
    let events: [Event]
    struct Reading {
        var place: Int
        var run: Int
        var elements: [String]
        var end: StreamEnd
    }

    /// A closure of the program was asked about another attempt.
    struct Question {
        var place: Int
        var retries: Int
        var fault: Fault
        var again: Bool
    }

    /// Those that count: of the last attempts of groups around their nodes, where these are tried again.
    private(set) var runs: [[Run]]
    private(set) var judgements: [[Judgement]]
    /// Those of earlier attempts included.
    private(set) var everyRun: [[Run]]
    private(set) var everyJudgement: [[Judgement]]
    /// By node: where the attempts of the groups around it that count begin, and where they end.
    private(set) var windows: [Range<Int>] = []
    /// Which attempts of groups count, where these are not the last ones that were seen.
    private var chosen: [Int: Range<Int>] = [:]
    /// What was told of operations that were made for one attempt of a group.
    private(set) var attempted: [[(attempt: Int, place: Int, event: Event)]]
    /// What listeners were told, with its place.
    private(set) var tellings: [[(place: Int, telling: Telling)]]
    private(set) var readings: [[Reading]]
    private(set) var questions: [[Question]]
    /// What closures were told that may hold an end back.
    private(set) var holds: [[(place: Int, outcome: Outcome)]]
    /// What wrappers have made their operations of.
    private(set) var generated: [[(place: Int, received: Received?)]]
    private(set) var letGo: [Int: Int] = [:]
    private(set) var cancelAsked: [Int: Int] = [:]
    private(set) var cancelInForce: [Int: Int] = [:]
    private(set) var over: [Int: Int] = [:]
    private(set) var tellingsAgain: [(node: Int, place: Int, outcome: Outcome)] = []
    /// Where the same graph under the same key was taken for another one.
    private(set) var secondSubmission: Int?
    private(set) var hosts: [String: (labels: [String], permits: Int)] = [:]
    private(set) var placements: [[Int: (host: String, permits: [Int])]]
    /// From the place where the program was told of a pause to that where it ends it.
    private(set) var pauses: [(node: Int, places: Range<Int>)] = []
    /// Whether who decides how something ends is there when it begins.
    private(set) var isHere = true
    /// When the graph was made, by the place's clock.
    private(set) var madeAt: Int?
    /// What the place's clock showed, in milliseconds, by the places of events.
    private(set) var times: [Int: Int] = [:]
    let hasKills: Bool
    /// By node: with whom it is tried again.
    private(set) var scopes: [Int: Int]

    package init(_ plan: GraphPlan, _ history: History) {
        self.plan = plan
        events = history.events
        scopes = plan.scopes
        runs = []
        judgements = []
        everyRun = Array(repeating: [], count: plan.nodes.count)
        everyJudgement = Array(repeating: [], count: plan.nodes.count)
        attempted = Array(repeating: [], count: plan.nodes.count)
        tellings = Array(repeating: [], count: plan.nodes.count)
        readings = Array(repeating: [], count: plan.nodes.count)
        questions = Array(repeating: [], count: plan.nodes.count)
        holds = Array(repeating: [], count: plan.nodes.count)
        generated = Array(repeating: [], count: plan.nodes.count)
        placements = Array(repeating: [:], count: plan.nodes.count)
        var killed: [String: Int] = [:]
        for (place, event) in events.enumerated() {
            if case .killed(let process) = event { killed[process] = place }
        }
        hasKills = !killed.isEmpty
        for (place, event) in events.enumerated() { note(event, at: place, killed) }
        for node in plan.nodes.indices { hear(of: node, endingIn: 0..<events.count) }
        selectAttempts()
    }

    /// The same, as if these attempts of groups were the ones that count.
    ///
    /// - Parameter areHeard: whether what listeners were told is of these, as far as it says of which attempt it is.
    func counting(_ attempts: [Int: Range<Int>], areHeard: Bool) -> Account {
        var other = self
        other.chosen.merge(attempts) { $1 }
        other.selectAttempts()
        guard areHeard else { return other }
        for node in plan.nodes.indices where plan.ancestors(of: node).contains(where: { attempts[$0] != nil }) {
            (other.tellings[node], other.over[node]) = ([], nil)
            other.hear(of: node, endingIn: other.windows[node])
        }
        return other
    }

    private mutating func selectAttempts() {
        windows = windows(choosing: chosen)
        runs = zip(everyRun, windows).map { runs, window in runs.filter { window.contains($0.start) } }
        judgements = zip(everyJudgement, windows).map { judgements, window in judgements.filter { window.contains($0.place) } }
    }

    /// Takes in what was told of the last operation of a node whose end was told at one of these places.
    private mutating func hear(of node: Int, endingIn places: Range<Int>) {
        guard let last = attempted[node].last(where: { $0.event.isFinish && places.contains($0.place) })?.attempt else { return }
        for told in attempted[node] where told.attempt == last { note(told.event, at: told.place, [:]) }
    }

    /// The same; who was decided about before what it was to wait for was over does not count among those who wait.
    var withoutBystanders: Account? {
        let decided = plan.nodes.indices.map { node in
            [over[node], cancelAsked[node], finish(of: node)?.place].compactMap { $0 }.min() ?? .max
        }
        let scopes = plan.scopes { waiter, node in decided[waiter] < over[node] ?? .max }
        guard scopes != self.scopes else { return nil }
        var other = self
        other.scopes = scopes
        return other
    }

    private mutating func note(_ event: Event, at place: Int, _ killed: [String: Int]) {
        switch event {
        case .made(let isHere): (madeAt, self.isHere) = (times[place], isHere)
        case .submittedAgain(let isExisting): if !isExisting { secondSubmission = place }
        case .toldAgain(let node, let outcome): tellingsAgain.append((node, place, outcome))
        case .paused(let node): pauses.append((node, place..<events.count))
        case .resumed(let node):
            if let index = pauses.lastIndex(where: { $0.node == node }) { pauses[index].places = pauses[index].places.lowerBound..<place }
        case .host(let name, let labels, let permits): hosts[name] = (labels, permits)
        case .placed(let node, let run, let host, let permits): placements[node][run] = (host, permits)
        case .clock(let milliseconds): times[place + 1] = milliseconds
        case .cancelAsked(let node): cancelAsked[node] = cancelAsked[node] ?? place
        case .cancelInForce(let node): cancelInForce[node] = cancelInForce[node] ?? place
        case .judged(let node, let condition, let verdict):
            everyJudgement[node].append(Judgement(place: place, condition: condition, verdict: verdict))
        case .started(let node, let number, let process, let received, let tokens):
            everyRun[node].append(
                Run(
                    node: node, number: number, start: place, end: killed[process].map { max($0, place) } ?? place,
                    received: received, tokens: tokens, isDoubtful: killed[process] != nil))
        case .ended(let node, let number, let result):
            guard let index = everyRun[node].lastIndex(where: { $0.number == number && $0.result == nil }) else { return }
            everyRun[node][index].end = place
            everyRun[node][index].result = result
        case .told(let node, let telling): tellings[node].append((place, telling))
        case .over(let node): over[node] = over[node] ?? place
        case .consumed(let node, let run, let elements, let end):
            readings[node].append(Reading(place: place, run: run, elements: elements, end: end))
        case .retryAsked(let node, let retries, let fault, let again):
            questions[node].append(Question(place: place, retries: retries, fault: fault, again: again))
        case .held(let node, let outcome): holds[node].append((place, outcome))
        case .letGo(let node): letGo[node] = place
        case .generated(let node, let received): generated[node].append((place, received))
        case .attempt(let number, let event): if let node = event.listened { attempted[node].append((number, place, event)) }
        case .killed: break
        }
    }
}

extension Account {
    func node(_ node: Int) -> NodePlan { plan.nodes[node] }

    /// The outcome that observers were told first.
    func outcome(_ node: Int) -> Outcome? { finish(of: node)?.outcome }

    func finish(of node: Int) -> (place: Int, outcome: Outcome)? {
        for (place, telling) in tellings[node] {
            if case .finish(let outcome) = telling { return (place, outcome) }
        }
        return nil
    }

    func places(of node: Int, where matches: (Telling) -> Bool) -> [Int] {
        tellings[node].filter { matches($0.telling) }.map(\.place)
    }

    /// Whether anything was seen of a node: what is added later need not come.
    func exists(_ node: Int) -> Bool { plan.isPresent(node) && !plan.isOfList(node) || !tellings[node].isEmpty || !runs[node].isEmpty }

    func children(of node: Int) -> [Int] { plan.children(of: node).filter(exists) }

    /// Whether one of them is tried again with a net that waits for the other: what it holds is kept, and lent to the net.
    func areOfOneNet(_ node: Int, _ other: Int) -> Bool {
        [(node, other), (other, node)].contains { member, other in
            scopes[member].map { other == $0 || rests($0, on: other) } ?? false
        }
    }

    /// Whether a node, or a group around it, waits for another one, directly or not.
    func rests(_ node: Int, on other: Int) -> Bool {
        ([node] + plan.ancestors(of: node)).contains { member in
            self.node(member).predecessors.contains { plan.isInside(other, $0) || rests($0, on: other) }
        }
    }

    /// The node and what is inside of it.
    func subtree(_ node: Int) -> [Int] { plan.nodes.indices.filter { plan.isInside($0, node) } }

    /// As far as they are of the attempts of groups around the node that count; of the node itself all attempts.
    func runs(inside node: Int) -> [Run] { everyRun(inside: node).filter { windows[node].contains($0.start) } }

    func everyRun(inside node: Int) -> [Run] { subtree(node).flatMap { everyRun[$0] } }

    /// Where the node, or something inside of it, began to do something: was judged, or ran.
    func firstWork(inside node: Int) -> Int? {
        let places = subtree(node).flatMap { everyRun[$0].map(\.start) + everyJudgement[$0].map(\.place) }
        return places.filter { windows[node].contains($0) }.min()
    }

    /// Where the last body of the node, or inside of it, was over.
    func lastWork(inside node: Int) -> Int? { runs(inside: node).map(\.end).max() }

    /// Whether it was told to share the outcome of another one with its id.
    func hasJoined(_ node: Int) -> Bool {
        guard let unique = self.node(node).unique, unique.joins, runs[node].isEmpty, let outcome = outcome(node) else { return false }
        // Whom a cancellation names is not said: the one who was cancelled, or the one who shares its end.
        return sharers(of: node).contains { self.outcome($0) == outcome || outcome.isCancelled && self.outcome($0)?.isCancelled == true }
    }

    /// The others with the same unique id.
    func sharers(of node: Int) -> [Int] {
        guard let unique = self.node(node).unique else { return [] }
        return plan.nodes.indices.filter { $0 != node && plan.nodes[$0].unique?.id == unique.id }
    }
}

extension Event {
    /// Whose listener has noted it.
    fileprivate var listened: Int? {
        switch self {
        case .told(let node, _), .over(let node), .held(let node, _), .letGo(let node), .retryAsked(let node, _, _, _): node
        default: nil
        }
    }

    fileprivate var isFinish: Bool { if case .told(_, .finish) = self { true } else { false } }
}
