import AOperation
import Executing
import Wire

/// What a client reads that a coordinator has sent, without a connection: what fuzzing is about.
///
/// Nothing of it may trap, whatever the messages say.
package struct ClientIntake {
    private var ledger = RequestLedger()

    /// A client that has asked for a few things.
    package init() {
        _ = ledger.attached()
        _ = ledger.ask(.workers(WireListWorkers()))
        _ = ledger.follow("s", .everything)
        _ = ledger.follow("last")
    }

    package mutating func receive(_ message: WireCoordinatorMessage) {
        switch message.body {
        case .response(let response):
            for action in ledger.received(response) { look(at: action) }
            look(at: response)
        case .events(let events):
            for action in ledger.received(events) { look(at: action) }
            for event in events.events { look(at: NodeReport(event)) }
        case .refusal(let refusal): _ = ClusterError(refusal)
        case .welcome, .heartbeatAnswer, .dispatch, .stop, .acknowledgement, .blobRequest, .blobChunk, .farewell, .helloWanted,
            .elementReceipts, .productReceipts, .outputReceipts, .enrolled, nil:
            break
        }
    }

    private func look(at action: RequestLedger.Action) {
        switch action {
        case .finish(_, .failure(let error)), .endFollow(_, .some(let error)): _ = error.localizedDescription
        case .send, .finish, .deliver, .endFollow: break
        }
    }

    private func look(at response: WireResponse) {
        switch response.body {
        case .operations(let page):
            _ = OperationTree(page.operations).depthFirst()
            let reports = page.operations.map { NodeReport($0) }
            for report in NodeReport.inOrder(reports) { look(at: report) }
        case .failed(let failure): _ = ClusterError(failure).localizedDescription
        default: break
        }
    }

    private func look(at report: NodeReport) {
        _ = report.isLarge
        _ = report.added?.standIn(at: report.path)
        for failure in report.errors { _ = RemoteError(failure).localizedDescription }
    }
}
