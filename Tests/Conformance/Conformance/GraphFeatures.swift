extension GraphGenerator {
    /// What graphs may have. Each graph draws its own selection of it, so that rare combinations are not always covered up.
    package struct Features: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let retries = Features(rawValue: 1)
        package static let timeouts = Features(rawValue: 2)
        package static let deadlines = Features(rawValue: 4)
        package static let conditions = Features(rawValue: 8)
        package static let groupConditions = Features(rawValue: 16)
        package static let keys = Features(rawValue: 32)
        package static let uniqueness = Features(rawValue: 64)
        package static let delivery = Features(rawValue: 128)
        package static let dependencies = Features(rawValue: 256)
        package static let cancellations = Features(rawValue: 512)
        package static let limits = Features(rawValue: 1024)
        /// Bodies that go on after they were told to stop.
        package static let lingering = Features(rawValue: 2048)
        package static let stops = Features(rawValue: 4096)
        /// A limit on the queue itself. Only a queue of one process has one.
        package static let slots = Features(rawValue: 8192)
        /// Members that wait for something outside of their group.
        package static let outsiders = Features(rawValue: 16384)

        /// Cancellations by the program inside of groups that stop.
        package static let cancellationsUnderStop = Features(rawValue: 32768)

        /// Operations that deliver and that others wait for without receiving, where something may be cancelled.
        package static let dependentsOfProducers = Features(rawValue: 65536)

        /// Groups that stop and are not ordered, or have children whose deadlines may pass together: of several ends at once
        /// one is the cause.
        package static let unorderedStops = Features(rawValue: 131072)
        /// Cancellations of what may end by itself at the same moment.
        package static let racingCancellations = Features(rawValue: 262144)
        /// Cancellations before anything is added.
        package static let earlyCancellations = Features(rawValue: 524288)

        /// Conditions that are made of others.
        package static let madeConditions = Features(rawValue: 1 << 20)
        /// Closures of the program that hold ends back.
        package static let holds = Features(rawValue: 1 << 21)
        /// Closures of the program that decide about other attempts.
        package static let askedRetries = Features(rawValue: 1 << 22)
        /// Operations of types that only the program has.
        package static let hosted = Features(rawValue: 1 << 23)

        /// Operations that read what others send while these run.
        package static let streams = Features(rawValue: 1 << 24)

        /// Groups that add children as others end.
        package static let decisions = Features(rawValue: 1 << 25)

        /// Closures that hold an end back until a limit comes.
        package static let endlessHolds = Features(rawValue: 1 << 26)

        /// Conditions that are made of others, on operations that deliver. On a cluster the error of a part that the whole passes
        /// on is published there by the whole, and a receiver on a worker is given that: not among ``clustered``.
        package static let madeConditionsOfProducers = Features(rawValue: 1 << 27)

        /// Negations of negations, and of silent conditions. A cluster knows whether a condition is negated, and nothing of
        /// silence: its errors are those of the condition, or of its negation. Not among ``clustered``.
        package static let nestedNegations = Features(rawValue: 1 << 28)

        /// Retries at the ends of delivery nets, of operations in the middle of one, and of what has no part in one.
        package static let scopes = Features(rawValue: 1 << 29)

        /// Such retries where operations of the net have locks, unique ids, or code of the program. A cluster refuses them by name:
        /// not among ``clustered``.
        package static let scopesOfAnything = Features(rawValue: 1 << 30)

        /// Cancellations at the starts of operations whose producers are tried again with them.
        package static let cancellationsInScopes = Features(rawValue: 1 << 31)

        /// Conditions that leave what they say to dependent operations, also inside of others.
        package static let preparedConditions = Features(rawValue: 1 << 32)

        /// Sequences, whose next step is decided when the one before has ended: on a worker, or in the program.
        package static let sequences = Features(rawValue: 1 << 33)

        /// Operations that make others when they execute, and end as these do.
        package static let wrappers = Features(rawValue: 1 << 34)

        /// Operations and groups that wait for a time.
        package static let delays = Features(rawValue: 1 << 35)

        /// Operations that fail if they wait too long for their start.
        package static let queueTimeouts = Features(rawValue: 1 << 36)

        /// Operations that must not run twice. On a queue of one process nothing is lost.
        package static let atMostOnce = Features(rawValue: 1 << 37)

        /// Operations that require labels and resources of their workers. Only real workers have them.
        package static let placement = Features(rawValue: 1 << 38)

        /// Pauses of the whole graph.
        package static let pauses = Features(rawValue: 1 << 39)

        /// Pauses of groups in it. A queue of one process is suspended as a whole.
        package static let partialPauses = Features(rawValue: 1 << 40)

        /// Operations that produce others, with their success. Without a retry a queue of one process has them at once.
        package static let products = Features(rawValue: 1 << 41)

        /// Graphs that are submitted twice under one key.
        package static let submissionKeys = Features(rawValue: 1 << 42)

        /// Operations, and whole groups, that may be computed again: on a cluster one begins where the one before has succeeded. On a queue
        /// of one process that says nothing.
        package static let recomputable = Features(rawValue: 1 << 43)

        /// Groups that are tried again with all that is in them, others among that. All places know them; inside of them is nothing that a
        /// cluster refuses there by name (code of the program, what must not run twice), and nothing that others wait for.
        package static let retriedGroups = Features(rawValue: 1 << 44)

        static let bits = 45
        /// Those that say how others are drawn, and have no part in graphs by themselves.
        static let always: Features = [
            .cancellationsUnderStop, .dependentsOfProducers, .unorderedStops, .racingCancellations, .earlyCancellations,
            .madeConditionsOfProducers, .nestedNegations, .scopesOfAnything, .cancellationsInScopes, .partialPauses,
        ]

        /// Those whose draws are made apart.
        static let later: Features = [.scopes, .scopesOfAnything, .cancellationsInScopes]
        static let latest: Features = [.preparedConditions]
        /// Those that seeds did not have before: without them graphs are what they were.
        package static let newest: Features = [.sequences, .wrappers]

        /// Those that came later still: each has random numbers of its own, for whether it is drawn and for what is drawn of it.
        package static let apart: Features = [
            .delays, .queueTimeouts, .atMostOnce, .placement, .pauses, .partialPauses, .products, .submissionKeys, .recomputable,
            .retriedGroups,
        ]

        /// What graphs of seeds had that were noted before there were others.
        package static let older = all.subtracting(newest).subtracting(apart)

        package static let all = Features(rawValue: 1 << bits - 1)
        /// All but the kinds of graphs of which it is known that something is not as the model says.
        package static let settled = all.subtracting(distributed)

        /// Those of which a queue of one process knows nothing.
        private static let distributed: Features = [.atMostOnce, .placement, .partialPauses, .submissionKeys, .recomputable]

        /// What a cluster does as the model says.
        package static let clustered = settled.subtracting([
            .slots, .madeConditionsOfProducers, .nestedNegations, .scopesOfAnything,
        ]).union(distributed)

        /// What a cluster in memory does: no closure that never answers, for which time would wait, and all workers are alike.
        package static let inMemory = clustered.subtracting([.endlessHolds, .placement])

        /// Whether something may be cancelled before its end.
        var mayCancel: Bool { !isDisjoint(with: [.cancellations, .stops, .deadlines, .groupConditions]) }
    }
}
