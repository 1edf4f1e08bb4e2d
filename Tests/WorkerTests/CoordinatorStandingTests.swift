import Testing

@testable import Worker

@Suite struct CoordinatorStandingTests {
    private enum Event {
        case attached
        case detached(String, isThere: Bool = false)
        case denied(String)
        case executorDenied(String, at: Int64 = 0)
    }

    /// What is told of each event, a line each: logs by their level, statuses as such.
    private func story(_ events: [Event]) -> [[String]] {
        var standing = CoordinatorStanding(endpoint: "tcp://c:1")
        return events.map { event in
            let news =
                switch event {
                case .attached: standing.attached(at: 0)
                case .detached(let reason, let isThere): standing.detached(reason, isThere: isThere, time: "T")
                case .denied(let reason): standing.denied(reason, time: "T")
                case .executorDenied(let reason, let now): standing.executorDenied(reason, at: now, time: "T")
                }
            return news.map { piece in
                switch piece {
                case .log(let level, let text): "\(level): \(text)"
                case .status(let text): "status: \(text)"
                }
            }
        }
    }

    private let attached = "status: attached to tcp://c:1"
    private let nobody = ["notice: no coordinator at tcp://c:1 (no); trying on", "status: no coordinator at tcp://c:1 since T; trying on"]
    private let letIn = ["notice: the coordinator at tcp://c:1 lets this worker in", "status: attached to tcp://c:1"]
    private func denial(_ reason: String) -> [String] {
        ["error: \(reason); trying on", "status: not let in since T, trying on: \(reason)"]
    }

    @Test func coordinatorThatIsNotThere_isToldOnce_untilItIs() {
        #expect(story([.detached("no"), .detached("no"), .attached, .attached]) == [nobody, [], [attached], []])
    }

    @Test func connectionThatIsLost_isNoCoordinatorThatIsGone_beforeAnAttemptSaysSo() {
        let lost = "info: the connection to tcp://c:1 has ended (shut); trying again"
        #expect(story([.attached, .detached("shut"), .attached]) == [[attached], [lost], [attached]])
        #expect(
            story([.attached, .detached("shut"), .detached("no"), .detached("no")]) == [[attached], [lost], nobody, []])
    }

    @Test func coordinatorThatHasAnObstacle_isNotCalledAway() {
        let told = [
            "warning: the coordinator at tcp://c:1 does not let this worker in now: its list cannot be read; trying on",
            "status: not let in since T, trying on: its list cannot be read",
        ]
        let obstacle = Event.detached("its list cannot be read", isThere: true)
        #expect(story([obstacle, obstacle, .attached]) == [told, [], [attached]])
    }

    @Test func rightsThatChange_areOneLine() {
        #expect(
            story([
                .attached, .detached("hello"), .denied("may not"), .detached("may not"), .denied("may not"), .detached("may not"),
                .attached,
            ])
                == [
                    [attached], ["info: the connection to tcp://c:1 has ended (hello); trying again"], denial("may not"), [], [], [], letIn,
                ])
    }

    @Test func coordinatorThatGoesAwayFromADeniedWorker_isSeenInTheStatus_andOnlyThere() {
        let gone = "status: no coordinator at tcp://c:1 since T; trying on (it did not let this worker in before)"
        #expect(
            story([
                .denied("key"), .detached("key"), .detached("no"), .detached("no"), .denied("key"), .detached("key"), .detached("no"),
                .attached,
            ]) == [denial("key"), [], [gone], [], ["status: not let in since T, trying on: key"], [], [gone], letIn])
    }

    @Test func executorThatIsNotLetIn_isToldOnce_untilItIs_orTheCoordinatorIsGone() {
        #expect(
            story([.attached, .executorDenied("key"), .executorDenied("key"), .attached]) == [[attached], denial("key"), [], letIn])
        #expect(
            story([.attached, .executorDenied("key"), .detached("no")])
                == [
                    [attached], denial("key"),
                    ["status: no coordinator at tcp://c:1 since T; trying on (it did not let this worker in before)"],
                ])
    }

    @Test func executorThatSaysLateWhatIsOver_isNotToldOf_unlessItGoesOn() {
        let over = CoordinatorStanding.retryMaximumMilliseconds
        #expect(
            story([.denied("key"), .detached("key"), .attached, .executorDenied("key"), .executorDenied("key", at: over)])
                == [denial("key"), [], letIn, [], denial("key")])
        #expect(
            story([.denied("key"), .detached("key"), .attached, .executorDenied("other")])
                == [denial("key"), [], letIn, denial("other")])
    }
}
