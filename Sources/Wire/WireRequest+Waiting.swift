extension WireRequest {
    /// Whether its answer comes only when there is something to tell: it reads what an operation sends or prints, and has read all there is.
    package var waitsForNews: Bool {
        switch body {
        case .output(let read)?: read.wait
        case .elements(let read)?: read.wait
        default: false
        }
    }
}
