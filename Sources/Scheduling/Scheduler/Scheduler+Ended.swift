extension Scheduler {
    /// Which of these submissions have their outcome. What is not durable yet may be among it.
    public func ended(of submissions: [SubmissionNumber]) -> [SubmissionNumber] {
        submissions.filter { durable.submissions[durable.index(of: $0)].units[0].hasEnded }
    }
}
