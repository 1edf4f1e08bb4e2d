import Foundation

/// The children of a group: who is in, who has ended and how, and what to do next.
///
/// A value that is stepped by ``GroupOperation``: its methods take what happened and return what to do.
struct GroupRoster {
    /// Where the group stands.
    private enum Phase {
        /// It has not started: children are listed.
        case gathering
        /// It is executing, or was abandoned: children are run, or cancelled.
        case running
        /// All children have ended: nothing can be added.
        case closed
    }

    private struct Child {
        let operation: Foundation.Operation
        var stage = Stage.listed
        /// Came after the group was abandoned, or stopped: its end is told to nobody, or branching would never end.
        var isLate = false
        /// Cancelled by the group's own `.stop`: it shows in its outcome, not in the group's errors.
        var isStopped = false
        /// The same, as it is known of children that run elsewhere.
        var isStoppedElsewhere: Bool?
    }

    private enum Stage {
        case listed
        case admitted
        /// Its outcome is decided, its body may still run.
        case settled(OperationOutcome<Any>, [AOperationError])
        case ended(OperationOutcome<Any>, [AOperationError])

        var isOpen: Bool {
            switch self {
            case .listed, .admitted: true
            case .settled, .ended: false
            }
        }

        var isListed: Bool { if case .listed = self { true } else { false } }

        var result: (outcome: OperationOutcome<Any>, errors: [AOperationError])? {
            switch self {
            case .listed, .admitted: nil
            case .settled(let outcome, let errors), .ended(let outcome, let errors): (outcome, errors)
            }
        }
    }

    var isOrdered = false
    var onFailure = FailurePolicy.continue
    /// How many children may run at once.
    var limit = Int.max
    /// Whether children are of retry scopes.
    var isScoped = false
    /// Its children run elsewhere, and no other ones can be added.
    private(set) var isMirrored = false
    /// How the group ended elsewhere, if that does not follow from its children.
    private var imposed: Ending?

    private var phase = Phase.gathering
    /// Under which ids children have produced others.
    private var producedIDs: Set<String> = []
    private var children: [Child] = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// Children that have not ended, and one for each step that must not be overtaken by the group's end.
    private var open = 0
    private var areNetsTaken = false
    /// Of an ordered group: the next child to start, and how many have started and not ended.
    private var cursor = 0
    private var inFlight = 0
    private var isStopping = false
    /// The same of a group that runs elsewhere, as far as it follows from what is known of its children.
    private var isStoppedElsewhere = false
    /// Decided over the children's heads: cancelled, timed out, conditions failed.
    private var verdict: Ending?
    private var ownErrors: [AOperationError] = []
    /// Children whose end somebody has seen and went on.
    private var forgiven: Set<ObjectIdentifier> = []
    /// Those among them that count through another child alone.
    private var unlisted: Set<ObjectIdentifier> = []

    /// Takes the children out of a group that goes away.
    mutating func dismantle() -> [Foundation.Operation] {
        defer { children = [] }
        return operations
    }

    var operations: [Foundation.Operation] { children.map(\.operation) }

    var count: Int { children.count }

    var outcomes: [OperationOutcome<Any>] { children.compactMap { $0.stage.result?.outcome } }

    func contains(_ operation: Foundation.Operation) -> Bool { places[ObjectIdentifier(operation)] != nil }

    /// Whether `operation` is a child that has not been started, and that nobody has decided to cancel.
    func isListed(_ operation: Foundation.Operation) -> Bool {
        guard verdict == nil, !isStopping, let place = places[ObjectIdentifier(operation)] else { return false }
        return children[place].stage.isListed
    }
}

// MARK: - Adding and starting

extension GroupRoster {
    enum Addition {
        /// It waits for the group's start, or for its turn.
        case listed
        /// Start it now.
        case start
        /// The group takes nothing new: cancel it, then admit it, so that its end is counted.
        case cancel
        /// It is a child already.
        case known
        /// The group has looked for nets already: it is to come with its own.
        case late
        /// The group has ended.
        case refused
        /// The group runs elsewhere, and knows nothing of it there.
        case foreign
    }

    /// - Parameters:
    ///   - isMirror: it was added to the group elsewhere.
    ///   - beforeNets: without its net, which the group is to look for.
    mutating func add(_ operation: Foundation.Operation, isMirror: Bool = false, beforeNets: Bool = false) -> Addition {
        guard !contains(operation) else { return .known }
        guard !isMirrored || isMirror else { return .foreign }
        var child = Child(operation: operation)
        let addition: Addition
        switch phase {
        case .closed:
            return .refused
        case .gathering where beforeNets && areNetsTaken, .running where beforeNets && verdict == nil && !isStopping:
            return .late
        case .gathering:
            addition = .listed
        case .running:
            if verdict != nil || isStopping {
                child.stage = .admitted
                child.isLate = true
                child.isStopped = isStopping
                inFlight += 1
                addition = .cancel
            } else if isOrdered {
                addition = .listed
            } else {
                child.stage = .admitted
                inFlight += 1
                addition = .start
            }
        }
        places[ObjectIdentifier(operation)] = children.count
        children.append(child)
        open += 1
        return addition
    }

    /// The children so far, whose nets the group looks for: once. Nil when it has none to look for any more.
    mutating func takeNets() -> [Foundation.Operation]? {
        guard case .gathering = phase, !isMirrored else { return nil }
        areNetsTaken = true
        return operations
    }

    /// Replaces the list, before the start, by one that also names what belongs to the children's delivery nets.
    /// Children that `operations` does not name were added meanwhile: they come last.
    mutating func relist(_ operations: [Foundation.Operation]) {
        guard case .gathering = phase else { return }
        let listed = children
        children = operations.map { Child(operation: $0) }
        places = [:]
        for (place, operation) in operations.enumerated() { places[ObjectIdentifier(operation)] = place }
        for child in listed where !contains(child.operation) {
            places[ObjectIdentifier(child.operation)] = children.count
            children.append(child)
        }
        open += children.count - listed.count
    }

    /// The group runs elsewhere: it ends after ``letGo()`` only.
    mutating func mirror() {
        isMirrored = true
        stayOpen()
    }

    /// Decides how the group ends once its children have, unless that is decided.
    mutating func impose(_ ending: Ending) { imposed = ending }

    /// Holds the group's end until ``letGo()``.
    mutating func stayOpen() { open += 1 }

    /// Whether children that are added are run.
    var takesMore: Bool {
        switch phase {
        case .gathering, .running: verdict == nil && !isStopping && !isStoppedElsewhere
        case .closed: false
        }
    }

    /// Where `operation` stands; for one that is no child, behind all.
    func place(of operation: Foundation.Operation) -> Int { places[ObjectIdentifier(operation)] ?? children.count }

    /// Nil before the first place.
    func operation(before place: Int) -> Foundation.Operation? { place > 0 ? children[place - 1].operation : nil }

    /// Whether it has not started, nor was it abandoned.
    var isGathering: Bool { if case .gathering = phase { true } else { false } }

    /// The group starts. Until ``letGo()`` it cannot end.
    mutating func start() -> Bool {
        guard case .gathering = phase else { return false }
        phase = .running
        open += 1
        return true
    }

    /// The next child to admit; nil when there is none now.
    mutating func nextToStart() -> Foundation.Operation? {
        guard case .running = phase, verdict == nil, !isStopping else { return nil }
        if isOrdered, inFlight > 0 { return nil }
        while cursor < children.count, !children[cursor].stage.isListed { cursor += 1 }
        guard cursor < children.count else { return nil }
        children[cursor].stage = .admitted
        inFlight += 1
        cursor += 1
        return children[cursor - 1].operation
    }
}

// MARK: - Ends

extension GroupRoster {
    struct Settlement {
        /// Whether `operationDidFinish` is to be told.
        var isTold: Bool
        /// Its children run elsewhere.
        var isMirrored = false
        var stopped: [Foundation.Operation]
    }

    /// A child's outcome is decided.
    mutating func settle(
        _ operation: Foundation.Operation, _ outcome: OperationOutcome<Any>, errors: [AOperationError]
    ) -> Settlement {
        guard let place = places[ObjectIdentifier(operation)], children[place].stage.isOpen else {
            return Settlement(isTold: false, stopped: [])
        }
        children[place].stage = .settled(outcome, errors)
        // Who runs the children stops them: in which order ends are heard of here says nothing.
        let stops = onFailure == .stop && !outcome.isSuccess && verdict == nil && !isStopping && !isMirrored
        if isMirrored, onFailure == .stop, !outcome.isSuccess { isStoppedElsewhere = true }
        return Settlement(isTold: !children[place].isLate, isMirrored: isMirrored, stopped: stops ? stop() : [])
    }

    /// A child that runs elsewhere was cancelled there: by the group's own `.stop`, or by somebody.
    mutating func noteCancellation(of operation: Foundation.Operation, isByGroup: Bool) {
        if let place = places[ObjectIdentifier(operation)] { children[place].isStoppedElsewhere = isByGroup }
    }

    /// Whether a child that runs elsewhere was cancelled there with the group.
    func hasStoppedElsewhere(_ operation: Foundation.Operation) -> Bool {
        places[ObjectIdentifier(operation)].map { children[$0].isStoppedElsewhere } == true
    }

    private mutating func stop() -> [Foundation.Operation] {
        isStopping = true
        for place in children.indices where children[place].stage.isOpen { children[place].isStopped = true }
        return children.filter(\.stage.isOpen).map(\.operation)
    }

    /// Of those that its own `.stop` is to cancel, these were cancelled by somebody else before: that is an error of the group.
    mutating func keepCancellations(of operations: [Foundation.Operation]) {
        for operation in operations {
            if let place = places[ObjectIdentifier(operation)] { children[place].isStopped = false }
        }
    }

    /// A child has ended. Returns whether that was the last.
    mutating func end(_ operation: Foundation.Operation) -> Bool {
        guard let place = places[ObjectIdentifier(operation)], case .settled(let outcome, let errors) = children[place].stage
        else { return false }
        children[place].stage = .ended(outcome, errors)
        inFlight -= 1
        return letGo()
    }

    /// One hold on the group's end less. Returns whether that was the last: the group is closed then.
    mutating func letGo() -> Bool {
        open -= 1
        guard open == 0, case .running = phase else { return false }
        phase = .closed
        return true
    }

    /// Cancels a listed child in place of starting it: counts as admitted. False when it has been started.
    mutating func withdraw(_ operation: Foundation.Operation) -> Bool {
        guard let place = places[ObjectIdentifier(operation)], children[place].stage.isListed else { return false }
        children[place].stage = .admitted
        inFlight += 1
        return true
    }

    /// Decides the group's ending over its children's heads. Returns those to cancel, and holds the group's end until
    /// ``letGo()``; nil when all have ended.
    mutating func abandon(with ending: Ending) -> [Foundation.Operation]? {
        switch phase {
        case .closed:
            return nil
        case .gathering, .running:
            phase = .running
            if verdict == nil { verdict = ending }
            open += 1
            return children.filter(\.stage.isOpen).map(\.operation)
        }
    }

    /// An error of the group's own.
    mutating func add(_ error: AOperationError) {
        ownErrors.append(error)
    }

    /// From now on this child alone does not make the group fail.
    ///
    /// - Parameter isListed: whether its errors are among the group's if that fails all the same.
    mutating func forgive(_ operation: Foundation.Operation, isListed: Bool = true) {
        forgiven.insert(ObjectIdentifier(operation))
        if !isListed { unlisted.insert(ObjectIdentifier(operation)) }
    }

    /// Whether the group succeeds: nobody failed but children that were forgiven.
    private var isSuccess: Bool {
        ownErrors.isEmpty
            && children.allSatisfy { child in
                forgiven.contains(ObjectIdentifier(child.operation)) || child.stage.result?.outcome.isSuccess ?? true
            }
    }

    /// How the group ends, once it is closed: failures in child order, the group's own errors, then cancelled
    /// children in child order. Forgiven children are among them if the group fails, but for those that count through others.
    var ending: Ending {
        if let decided = verdict ?? imposed { return decided }
        let errors = isSuccess ? [] : errors
        return errors.isEmpty ? .success : .failure(errors)
    }

    /// The errors by now, in the order in which a failed group has them.
    var errors: [AOperationError] {
        var failures: [AOperationError] = []
        var cancellations: [AOperationError] = []
        for child in children where !unlisted.contains(ObjectIdentifier(child.operation)) {
            guard let (outcome, errors) = child.stage.result else { continue }
            switch outcome {
            case .success: break
            case .failure:
                if errors.first?.publishedError is AOperationError.IgnoredDuplicate {
                    cancellations += errors
                } else {
                    failures += errors
                }
            case .cancelled: if !(child.isStoppedElsewhere ?? child.isStopped) { cancellations += errors }
            }
        }
        return failures + ownErrors + cancellations
    }

    /// Whether nothing was produced under this id.
    mutating func claimProduced(_ id: String) -> Bool { producedIDs.insert(id).inserted }
}
