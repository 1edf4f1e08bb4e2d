import AOperation
import Foundation
import Testing
import Wire

@testable import Executing

/// What an executor reads of others' streams.
@Suite struct StreamPagesTests {
    private func page(_ attempt: UInt32, _ indices: [UInt64], next: UInt64, ended: Bool = false, failure: String? = nil) -> WireElementPage
    {
        .with {
            $0.attempt = attempt
            $0.elements = indices.map { index in
                .with {
                    $0.index = index
                    $0.encoding = .text
                    $0.bytes = Data("\(index)".utf8)
                }
            }
            $0.next = next
            $0.ended = ended
            if let failure { $0.failures = [.with { $0.message = failure }] }
        }
    }

    /// What there is to read, as text.
    private func events(_ pages: inout StreamPages) -> [String] {
        var told: [String] = []
        while let event = pages.take() {
            switch event {
            case .element(let value, let index): told.append("\(index) \(String(decoding: value.bytes, as: UTF8.self))")
            case .missed(let count): told.append("missed \(count)")
            case .voided: told.append("voided")
            case .ended(let error): told.append("ended \(error?.publishedError.localizedDescription ?? "well")")
            }
        }
        return told
    }

    @Test func pages_followEachOther_andNothingIsTakenTwice() {
        var pages = StreamPages(attempt: 2)
        pages.read(page(2, [0, 1], next: 2))
        #expect(events(&pages) == ["0 0", "1 1"])
        #expect(pages.index == 2)
        pages.read(page(2, [1, 2], next: 3))
        #expect(events(&pages) == ["2 2"])
        pages.read(page(2, [], next: 3))
        #expect(events(&pages).isEmpty)
        pages.read(page(2, [3], next: 4, ended: true))
        #expect(events(&pages) == ["3 3", "ended well"])
    }

    @Test func gaps_anotherAttempt_andTheProducersError_areTold() {
        var pages = StreamPages(attempt: 1)
        pages.read(page(1, [2], next: 5, ended: true, failure: "no more"))
        #expect(events(&pages) == ["missed 2", "2 2", "missed 2", "ended no more"])
        var other = StreamPages(attempt: 1)
        other.read(page(2, [0], next: 1))
        #expect(events(&other) == ["voided"])
        var never = StreamPages(attempt: 0)
        never.read(page(0, [], next: 0, ended: true, failure: "cancelled"))
        #expect(events(&never) == ["ended cancelled"])
    }
}

@Suite struct StreamDeskTests {
    /// What was asked and answered.
    private final class Board: @unchecked Sendable {
        var asked: [UInt64] = []
        var later: [() -> Void] = []
        var answers: [String] = []

        func answer(_ result: Result<WireElementPage, StreamRefused>) {
            switch result {
            case .success(let page): answers.append("page \(page.attempt)")
            case .failure(let refused): answers.append(refused.reason)
            }
        }
    }

    @Test func questions_areAskedAgainUntilTheyAreAnswered() {
        let board = Board()
        let desk = StreamDesk(send: { board.asked.append($0.id) }, later: { board.later.append($0) })
        let first = desk.ask(.init()) { board.answer($0) }
        let second = desk.ask(.init()) { board.answer($0) }
        desk.resume()
        #expect(board.asked == [first, second, first, second])
        let page = WireResponse.with {
            $0.request = first
            $0.elements.attempt = 3
        }
        desk.receive(page)
        desk.receive(page)
        #expect(board.answers == ["page 3"])
        desk.forget(second)
        desk.resume()
        #expect(board.asked.count == 4)
    }

    @Test func whoIsBusy_isAskedLater_andARefusalIsTold() {
        let board = Board()
        let desk = StreamDesk(send: { board.asked.append($0.id) }, later: { board.later.append($0) })
        let number = desk.ask(.init()) { board.answer($0) }
        func refuse(_ code: WireRequestFailed.Code, _ message: String) -> WireResponse {
            .with {
                $0.request = number
                $0.failed.code = code
                $0.failed.message = message
            }
        }
        desk.receive(refuse(.busy, "later"))
        #expect(board.asked.count == 1 && board.answers.isEmpty)
        for again in board.later { again() }
        #expect(board.asked == [number, number])
        desk.receive(refuse(.notFound, "gone"))
        #expect(board.answers == ["gone"])
    }
}
