import Conformance

extension Planted {
    private static func stream(failures: Int = 0, attempts: Int = 1) -> GraphPlan {
        var source = Script(failures: failures)
        source.elements = 2
        var node = NodePlan(.operation(source), in: 0)
        node.attempts = attempts
        return .of([node, .leaf { $0.source = 1 }])
    }
    private static func elements(run: Int = 1) -> [String] { [0, 1].map { Texts.element($0, of: 1, run: run) } }
    private static func read(_ elements: [String], _ end: StreamEnd = .complete, run: Int = 1) -> [Event] {
        [Seen.begins(2, run: run), .consumed(2, run: run, elements, end)]
    }
    private static let streamed =
        [.told(1, .start), Seen.begins(1), .told(2, .start)] + read(elements()) + [Seen.value(2), Seen.value(1)]
        + Seen.told(1, .success("n1#1")) + [.over(1)] + Seen.told(2, .success("n2#1")) + [.over(2)] + Seen.group(0)
    private static let again =
        [.told(1, .start), Seen.begins(1), .told(2, .start)] + read(elements(), .stopped) + [
            .ended(2, run: 1, .stopped), Seen.failure(1), Seen.begins(1, run: 2), Seen.value(1, run: 2),
        ] + Seen.told(1, .success("n1#2")) + [.over(1)] + read(elements(run: 2), run: 2) + [Seen.value(2, run: 2)]
        + Seen.told(2, .success("n2#2")) + [.over(2)] + Seen.group(0)
    private static let broken =
        [.told(1, .start), Seen.begins(1), .told(2, .start)] + read(elements(), .failure(.own(1))) + [Seen.value(2), Seen.failure(1)]
        + Seen.told(1, .failure([.own(1)])) + [.over(1)] + Seen.told(2, .success("n2#1")) + [.over(2)]
        + Seen.group(0, .failure([.own(1)]))

    static let streams: [Planted] = [
        Planted("elementsOfOneAttempt", "elements of two attempts", stream(failures: 1, attempts: 2), again) {
            $0.replace(
                .consumed(2, run: 2, elements(run: 2), .complete),
                with: .consumed(2, run: 2, [elements(run: 2)[0], elements()[1]], .complete))
        },
        Planted("elementsOfOneAttempt", "not from the first one", stream(failures: 1, attempts: 2), again) {
            $0.replace(.consumed(2, run: 1, elements(), .stopped), with: .consumed(2, run: 1, [elements()[1]], .stopped))
        },
        Planted("streamEndsAsItsProducer", "an element is missing at the end", stream(), streamed) {
            $0.replace(.consumed(2, run: 1, elements(), .complete), with: .consumed(2, run: 1, [elements()[0]], .complete))
        },
        Planted("streamEndsAsItsProducer", "the error is another one's", stream(failures: 9), broken) {
            $0.replace(
                .consumed(2, run: 1, elements(), .failure(.own(1))), with: .consumed(2, run: 1, elements(), .failure(.own(1, run: 2))))
        },
        Planted("readerCountsWithItsProducer", "it ends with what is void", stream(failures: 1, attempts: 2), again) {
            $0.replace(.consumed(2, run: 2, elements(run: 2), .complete), with: .consumed(2, run: 2, elements(), .enough))
        },
        Planted("readerSucceedsAfterItsProducer", "it has succeeded while its producer runs", stream(), streamed) {
            $0.move(.told(2, .finish(.success("n2#1"))), before: Seen.value(1))
            $0.move(.told(2, .result(.success("n2#1"))), before: Seen.value(1))
        },
    ]
}
