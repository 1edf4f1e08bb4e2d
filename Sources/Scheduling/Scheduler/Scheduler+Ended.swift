extension Scheduler {
    /// Which of these submissions have their outcome. What is not durable yet may be among it.
    public func ended(of submissions: [SubmissionNumber]) -> [SubmissionNumber] {
        submissions.filter { isForgotten($0) || durable.submission($0).units[0].hasEnded }
    }

    /// Whether the submission ended so long ago that nothing of it is known. What is not durable yet may be among it.
    public func isForgotten(_ number: SubmissionNumber) -> Bool { durable.isForgotten(number) }
}
