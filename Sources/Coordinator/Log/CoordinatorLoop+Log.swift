import Logging
import Scheduling

/// What the loop has logged of its work.
extension CoordinatorLoop {
    func log(_ fact: Fact, _ level: Logger.Level) {
        guard let line = EventLog.line(fact, level, scheduler, id: { submissionID($0, fact) }) else { return }
        eventLog.append(line, after: scheduler.sequence)
    }

    /// Of a submission that a fact is about, which may be the first one of it.
    private func submissionID(_ number: SubmissionNumber, _ fact: Fact) -> String? {
        if case .submitted(let admission) = fact, admission.number == number { return admission.id }
        return labels.submissionIDs[number]
    }

    func log(_ happenings: [Happening]) {
        for happening in happenings {
            switch happening {
            case .ended(let unit, let end):
                guard let operation = scheduler.operation(unit), let id = labels.submissionIDs[unit.submission] else { continue }
                let line = EventLog.line(operation, end, id: id)
                switch end {
                case .failed, .retrying: eventLog.append(failure: line, of: unit.submission, after: scheduler.sequence)
                case .succeeded, .cancelled: eventLog.append(line, after: scheduler.sequence)
                }
            case .worker(let event): eventLog.append(EventLog.line(event), after: scheduler.sequence)
            case .workerSuspected(let worker): eventLog.append(EventLog.line(suspected: worker), after: scheduler.sequence)
            }
        }
    }

    func log(ended numbers: [SubmissionNumber]) {
        for number in numbers {
            eventLog.forget(number)
            if eventLog.isOn(.info), let view = scheduler.endedSubmission(number) {
                // A group that fails by itself is no operation, of which a line would have told why.
                let isUntold = view.state == .failed && view.counts.failed == 0
                let failure = isUntold ? scheduler.failure(of: number) : nil
                eventLog.append(EventLog.line(view, failure: failure), after: scheduler.sequence)
            }
        }
    }
}
