import AOperation
import Foundation
import Wire

/// What the operations of an executor receive of others' streams: asks the coordinator for one page after the other.
///
/// A question is asked again in every session until it is answered. Touched on one thread only.
package final class StreamDesk {
    package typealias Answer = @Sendable (Result<WireElementPage, StreamRefused>) -> Void

    /// A coordinator that was busy is asked again after this.
    package static let busyMilliseconds: Int64 = 500

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
    package init(send: @escaping (WireRequest) -> Void, later: @escaping (@escaping () -> Void) -> Void) {
        self.send = send
        self.later = later
    }

    /// - Returns: by which it is forgotten.
    package func ask(_ request: WireReadElements, _ answer: @escaping Answer) -> UInt64 {
        lastNumber += 1
        questions[lastNumber] = Question(request: request, answer: answer)
        send(lastNumber)
        return lastNumber
    }

    /// Questions that wait for their answers.
    package var openCount: Int { questions.count }

    /// How an operation reads the stream of its assignment.
    /// - Parameter perform: does something on the desk's thread, in the order in which it is asked to.
    /// - Parameter error: makes the error with which the operation that is read has ended.
    package func opener(
        error: @escaping @Sendable (WireOperationFailure) -> AOperationError = { AOperationError($0) },
        _ perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) -> @Sendable (WireAssignment) -> any StreamCursor {
        // Only touched by what is performed.
        nonisolated(unsafe) let desk = self
        return { assignment in
            AssignedStreamCursor(assignment, error: error) { request, asked, answer in
                perform { asked(desk.ask(request, answer)) }
            } forget: { number in
                perform { desk.forget(number) }
            }
        }
    }

    /// Nobody waits for the answer any more.
    package func forget(_ number: UInt64) { questions[number] = nil }

    /// After the connection was made anew.
    package func resume() {
        for number in questions.keys.sorted() { send(number) }
    }

    package func receive(_ response: WireResponse) {
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
package struct StreamRefused: LocalizedError, Hashable, Sendable {
    package let reason: String

    package var errorDescription: String? { "the stream cannot be read: \(reason)" }
}
