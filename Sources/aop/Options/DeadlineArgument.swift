import ArgumentParser
import GraphFile

/// A deadline as graph files write it: a duration, or a time.
struct DeadlineArgument: ExpressibleByArgument, Sendable, Hashable {
    let deadline: GraphDeadline

    init?(argument: String) {
        guard let deadline = GraphDeadline(argument) else { return nil }
        self.deadline = deadline
    }
}
