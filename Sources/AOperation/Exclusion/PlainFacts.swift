import Foundation

/// What plain operations say of themselves. That is the program's code: under a lock it is not asked.
///
/// One search uses it at a time.
final class PlainFacts {
    struct Fact {
        var isOver: Bool
        /// Whether it executes, or has finished.
        var hasBegun: Bool
        var dependencies: [Foundation.Operation]

        /// Of one of which nothing is known: it waits for nothing.
        static let unknown = Fact(isOver: true, hasBegun: true, dependencies: [])

        init(of operation: Foundation.Operation) {
            isOver = operation.isFinished
            hasBegun = isOver || operation.isExecuting
            dependencies = hasBegun ? [] : operation.dependencies
        }

        private init(isOver: Bool, hasBegun: Bool, dependencies: [Foundation.Operation]) {
            (self.isOver, self.hasBegun, self.dependencies) = (isOver, hasBegun, dependencies)
        }
    }

    private var known: [ObjectIdentifier: (operation: Foundation.Operation, fact: Fact)] = [:]
    /// Those that could not be asked.
    private var missing: [Foundation.Operation] = []
    private var mayAsk = true

    var isMissing: Bool { !missing.isEmpty }

    /// What a search has come across, so that nothing of the program's goes away under a lock.
    private var kept: [AnyObject] = []

    func fact(of operation: Foundation.Operation) -> Fact {
        if let (_, fact) = known[ObjectIdentifier(operation)] { return fact }
        guard mayAsk else {
            missing.append(operation)
            return .unknown
        }
        let fact = Fact(of: operation)
        known[ObjectIdentifier(operation)] = (operation, fact)
        return fact
    }

    func isOver(_ operation: Foundation.Operation) -> Bool {
        (operation as? AOperation)?.isEnded ?? fact(of: operation).isOver
    }

    /// Asks all of them anew, for a search that asks nobody.
    func refresh() {
        for (operation, _) in known.values { known[ObjectIdentifier(operation)]?.fact = Fact(of: operation) }
        mayAsk = false
    }

    /// Asks those that the last search did not know. False if it knew all.
    func askMissing() -> Bool {
        guard !missing.isEmpty else { return false }
        for operation in missing { known[ObjectIdentifier(operation)] = (operation, Fact(of: operation)) }
        missing = []
        return true
    }

    func keep(_ objects: [AnyObject]...) {
        guard !mayAsk else { return }
        for objects in objects { kept += objects }
    }

    func keep(_ object: AnyObject?) {
        if !mayAsk, let object { kept.append(object) }
    }

    func keep(_ first: [AnyObject], _ second: [AnyObject], _ object: AnyObject?) {
        keep(first, second)
        keep(object)
    }
}
