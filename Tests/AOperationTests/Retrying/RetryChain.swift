@testable import AOperation

/// a → b → c.
struct RetryChain {
    let first: Attempted
    let middle: Attempted
    let last: Attempted
    let hearings: [Hearing]

    init(_ first: Int, _ middle: Int, _ last: Int) {
        self.init(.failing("A", first), .failing("B", middle), .failing("C", last))
    }

    init(_ first: Script, _ middle: Script, _ last: Script) {
        self.first = Attempted(first)
        self.middle = Attempted(middle)
        self.last = self.first.deliver(to: self.middle).deliver(to: Attempted(last))
        hearings = [Hearing(), Hearing(), Hearing()]
        for (operation, hearing) in zip([self.first, self.middle, self.last], hearings) { hearing.listen(to: operation) }
    }

    var operations: [Attempted] { [first, middle, last] }
    var runs: [Int] { operations.map(\.script.runs) }
    var ends: [[String]] { hearings.map { $0.heard("didFinish") } }
    func ended() async {
        for operation in operations { await operation.ended() }
        await callbacksDelivered()
    }
}
