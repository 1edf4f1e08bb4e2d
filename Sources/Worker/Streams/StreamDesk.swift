import Foundation
import Wire

/// What the operations of an executor receive of others' streams: asks the coordinator for one page after the other.
///
/// A question is asked again in every session until it is answered. Lives on the loop's thread.
final class StreamDesk {
    typealias Answer = @Sendable (Result<WireElementPage, StreamRefused>) -> Void

    private struct Question {
        let request: WireReadElements
        let answer: Answer
    }

    private let send: (WireRequest) -> Void
    private let later: (@escaping () -> Void) -> Void
    private var questions: [UInt64: Question] = [:]
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - send: asks the coordinator; lost when there is no connection.
    ///   - later: does something when a coordinator that is busy may be asked again.
    init(send: @escaping (WireRequest) -> Void, later: @escaping (@escaping () -> Void) -> Void) {
        self.send = send
        self.later = later
    }

    /// - Returns: by which it is forgotten.
    func ask(_ request: WireReadElements, _ answer: @escaping Answer) -> UInt64 {
        lastNumber += 1
        questions[lastNumber] = Question(request: request, answer: answer)
        send(lastNumber)
        return lastNumber
    }

    /// Nobody waits for the answer any more.
    func forget(_ number: UInt64) { questions[number] = nil }

    /// After the connection was made anew.
    func resume() {
        for number in questions.keys.sorted() { send(number) }
    }

    func receive(_ response: WireResponse) {
        guard let question = questions[response.request] else { return }
        switch response.body {
        case .failed(let failed)? where failed.code == .busy:
            let number = response.request
            return later { [weak self] in self?.send(number) }
        case .elements(let page)?: question.answer(.success(page))
        case .failed(let failed)?: question.answer(.failure(StreamRefused(reason: failed.message)))
        default: question.answer(.failure(StreamRefused(reason: "the coordinator's answer is not understood; check its version")))
        }
        questions[response.request] = nil
    }

    private func send(_ number: UInt64) {
        guard let question = questions[number] else { return }
        send(
            .with {
                $0.id = number
                $0.elements = question.request
            })
    }
}

/// The coordinator does not let a stream be read.
struct StreamRefused: LocalizedError, Hashable, Sendable {
    let reason: String

    var errorDescription: String? { "the stream cannot be read: \(reason)" }
}
