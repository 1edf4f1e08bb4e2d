import Foundation
import Testing

@testable import AOperation

/// A capability whose requests wait to be answered.
struct Microphone: Capability {
    enum Status: Sendable { case undecided, denied, allowed }

    /// Who may use it, and who was asked.
    final class Desk: Sendable {
        let requested = Signal()
        let requests = Gauge()
        private let state = Guarded((status: Status.undecided, asked: 0, open: [@Sendable () -> Void]()))

        init() {}
        init(allowing: Void) { answer(.allowed) }

        var asked: Int { state.withLock { $0.asked } }
        var status: Status { state.withLock { $0.status } }

        func request(_ completion: @escaping @Sendable () -> Void) {
            requests.enter()
            state.withLock { state in
                state.asked += 1
                state.open.append(completion)
            }
            requested.fire()
        }

        func answer(_ status: Status) {
            let open = state.withLock { state in
                state.status = status
                defer { state.open = [] }
                return state.open
            }
            for completion in open {
                requests.leave()
                completion()
            }
        }
    }

    let desk: Desk
    var isAvailable = true

    func getAuthorizationStatus(_ completion: @escaping @Sendable (Status) -> Void) { completion(desk.status) }

    func isSufficient(_ status: Status) -> Bool { status == .allowed }

    func requestAuthorization(_ completion: @escaping @Sendable () -> Void) { desk.request(completion) }
}

@Suite(.timeLimit(Load.patience))
struct CapabilityTests {
    let queue = AOperationQueue()
    let desk = Microphone.Desk()
    let turns = AuthorizationTurns()
    var microphone: Microphone { Microphone(desk: desk) }
    var missing: Microphone { Microphone(desk: desk, isAvailable: false) }

    @Test func authorizedFor_holds_ifTheStatusIsSufficient() async {
        desk.answer(.allowed)
        #expect(await evaluate(AuthorizedFor(microphone)) == .success)
    }

    @Test func authorizedFor_fails_withTheStatus() async {
        desk.answer(.denied)
        let result = await evaluate(AuthorizedFor(microphone))
        let expected = CapabilityError(capability: "Microphone", reason: .notAuthorized(status: "denied"))
        #expect(result.published as? CapabilityError == expected)
        #expect(
            result.error?.localizedDescription == "The capability Microphone is not authorized: its status is denied")
        #expect(result.error?.publisher == "AuthorizedFor<Microphone>")
    }

    @Test func authorizedFor_fails_ifTheCapabilityDoesNotExist() async {
        desk.answer(.allowed)
        let result = await evaluate(AuthorizedFor(missing))
        #expect(result.published as? CapabilityError == CapabilityError(capability: "Microphone", reason: .unavailable))
        #expect(result.error?.localizedDescription == "The capability Microphone is not available here")
    }

    @Test func authorizedFor_asksByItsDependentOperation_whichIsMadeAnewEachTime() {
        let condition = AuthorizedFor(microphone)
        let first = condition.dependencyForOperation(Step())
        #expect(first is Authorize<Microphone>)
        #expect(first !== condition.dependencyForOperation(Step()))
    }

    @Test func status_isFoundWithoutAsking() async throws {
        let status = try await GetAuthorizationStatus(microphone).value(on: queue)
        #expect(status == .undecided)
        #expect(desk.asked == 0)
        let error = await GetAuthorizationStatus(missing).result(on: queue).error
        #expect((error?.publishedError as? CapabilityError)?.reason == .unavailable)
    }

    @Test func authorize_asks_andTellsTheStatusAfterwards() async {
        let authorize = Authorize(microphone, turns: turns)
        queue.addOperation(authorize)
        await desk.requested.wait()
        desk.answer(.denied)
        await authorize.ended()
        #expect(authorize.outcome?.value == .denied)
    }

    @Test func authorize_asksNobody_whenItIsAuthorizedAlready_orMissing() async {
        desk.answer(.allowed)
        let authorize = Authorize(microphone, turns: turns)
        let impossible = Authorize(missing, turns: turns)
        await queue.run(authorize)
        await queue.run(impossible)
        #expect(authorize.outcome?.value == .allowed)
        #expect((impossible.errors.first?.publishedError as? CapabilityError)?.reason == .unavailable)
        #expect(desk.asked == 0)
    }

    @Test func manyAuthorize_askOnce_whenTheFirstAnswerIsSufficient() async {
        queue.maxConcurrentOperationCount = 4
        let operations = (0..<200).map { _ in Authorize(microphone, turns: turns) }
        queue.addOperations(operations, waitUntilFinished: false)
        await desk.requested.wait()
        desk.answer(.allowed)
        for operation in operations { await operation.ended() }
        #expect(operations.allSatisfy { $0.outcome?.value == .allowed })
        #expect(desk.asked == 1)
        #expect(desk.requests.most == 1)
    }

    @Test func cancelledAuthorize_leavesTheLine_andTheOthersGoOn() async {
        let first = Authorize(microphone, turns: turns)
        queue.addOperation(first)
        await desk.requested.wait()
        let second = Authorize(microphone, turns: turns)
        let third = Authorize(microphone, turns: turns)
        queue.addOperations([second, third], waitUntilFinished: false)
        second.cancel()
        await second.ended()
        #expect(second.outcome?.isCancelled == true)
        desk.answer(.allowed)
        await first.ended()
        await third.ended()
        #expect(third.outcome?.value == .allowed)
    }

    @Test func cancelledAuthorize_thatHasAsked_keepsItsTurnUntilTheAnswer() async {
        let first = Authorize(microphone, turns: turns)
        queue.addOperation(first)
        await desk.requested.wait()
        first.cancel()
        let second = Authorize(microphone, turns: turns)
        queue.addOperation(second)
        #expect(desk.asked == 1)
        desk.answer(.allowed)
        await second.ended()
        #expect(first.outcome?.isCancelled == true)
        #expect(second.outcome?.value == .allowed)
        #expect(desk.asked == 1)
    }

    @Test func waitingForTheTurn_holdsNoSlot() async {
        queue.maxConcurrentOperationCount = 2
        let first = Authorize(microphone, turns: turns)
        queue.addOperation(first)
        await desk.requested.wait()
        let second = Authorize(microphone, turns: turns)
        let other = Step()
        queue.addOperations([second, other], waitUntilFinished: false)
        await other.ended()
        desk.answer(.allowed)
        await second.ended()
        #expect(second.outcome?.value == .allowed)
    }

    @Test func stoppedAuthorize_thatIsTriedAgain_takesItsTurnAnew() async {
        let authorize = Authorize(microphone, turns: turns)
            .observers(TimeoutObserver(0.01))
            .retryOnFailure { [desk] _, error, retry in
                desk.answer(.allowed)
                retry(true)
            }
        await queue.run(authorize)
        #expect(authorize.outcome?.value == .allowed)
        #expect(desk.asked <= 1)
    }

    @Test func capabilityThatNeverAnswers_losesItsTurn_whenTheBodyIsGivenUp() async {
        let deaf = Authorize(microphone, turns: turns)
        deaf.grace = .milliseconds(5)
        queue.addOperation(deaf)
        await desk.requested.wait()
        deaf.cancel()
        let next = Authorize(Microphone(desk: Microphone.Desk(allowing: ())), turns: turns)
        await queue.run(next)
        #expect(next.outcome?.value == .allowed)
    }
}
