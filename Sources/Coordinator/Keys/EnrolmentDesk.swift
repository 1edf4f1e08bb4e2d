import Logging
import Wire

/// Exchanges join tokens for keys in the file of authorised keys, on a thread of its own: it waits for the disk, and for `aop keys`.
final class EnrolmentDesk: Sendable {
    struct Request: Sendable {
        let token: PublicKey
        /// The joiner's own.
        let key: PublicKey
        let route: RoutingID
        let address: String

        var source: LogSource { LogSource(key: token, address: address) }
    }

    struct Event: Sendable {
        let request: Request
        let result: Result<EnrolmentAnswer, KeyError>
    }

    private let requests = WorkQueue<Request>()
    private let thread: OSThread

    /// Starts the thread. `report` runs on it and must not block.
    ///
    /// - Throws: `ThreadError`.
    init(_ path: String, logger: Logger, report: @escaping @Sendable (Event) -> Void) throws(ThreadError) {
        thread = try OSThread(name: "aop-enrolment") { [requests] in
            while case .jobs(let list) = requests.take() {
                for request in list { report(Event(request: request, result: Self.exchange(request, at: path, logger))) }
            }
        }
    }

    func post(_ request: Request) { requests.post(request) }

    /// Waits until everything that was posted is done.
    func close() {
        requests.close()
        thread.join()
    }

    private static func exchange(_ request: Request, at path: String, _ logger: Logger) -> Result<EnrolmentAnswer, KeyError> {
        do throws(KeyError) {
            let answer = try AuthorizedKeys.change(at: path, waitMilliseconds: CoordinatorLimits.keysLockMilliseconds) {
                keys throws(KeyError) in
                keys.enrol(request.key, for: request.token, at: WallClock.milliseconds())
            }
            // Here, and not where it is answered: the coordinator may end in between.
            if case .enrolled(let principal) = answer {
                logger.notice(
                    "\(principal.title) has joined from \(request.address): the key \(principal.key), for the join token \(request.token)")
            }
            return .success(answer)
        } catch { return .failure(error) }
    }
}
