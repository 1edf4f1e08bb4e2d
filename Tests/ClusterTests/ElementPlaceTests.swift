import AOperation
import Foundation
import Testing
import Wire

@testable import Cluster

/// What pages of partial results mean for a reader.
@Suite struct ElementPlaceTests {
    private func page(_ attempt: UInt32, _ indices: [UInt64], next: UInt64? = nil, ended: Bool = false) -> WireElementPage {
        .with {
            $0.attempt = attempt
            $0.elements = indices.map { index in
                .with {
                    $0.index = index
                    $0.encoding = .text
                    $0.bytes = Data("\(index)".utf8)
                }
            }
            $0.next = next ?? indices.last.map { $0 + 1 } ?? 0
            $0.ended = ended
        }
    }

    private func text(_ events: [RemotePartialResult]) -> [String] {
        events.map { event in
            switch event {
            case .element(_, let attempt, let index): "\(attempt)/\(index)"
            case .restarted(let attempt): "restarted \(attempt)"
            case .missed(let count): "missed \(count)"
            case .ended: "ended"
            }
        }
    }

    @Test func pages_followEachOther_andNothingIsTakenTwice() {
        var place = ElementPlace()
        #expect(text(place.read(page(1, [0, 1]))) == ["1/0", "1/1"])
        #expect(place.attempt == 1 && place.index == 2)
        #expect(text(place.read(page(1, [1, 2], ended: true))) == ["1/2", "ended"])
    }

    @Test func anotherAttempt_isTold_ifSomethingWasRead() {
        var place = ElementPlace()
        #expect(text(place.read(page(0, []))) == [])
        #expect(text(place.read(page(1, []))) == [])
        // Attempt 1 has sent nothing: nothing is void.
        #expect(text(place.read(page(2, [0]))) == ["2/0"])
        #expect(text(place.read(page(3, [], ended: true))) == ["restarted 3", "ended"])
    }

    @Test func gaps_areCounted_alsoAtTheEnd() {
        var place = ElementPlace()
        #expect(text(place.read(page(1, [0, 4], next: 7))) == ["1/0", "missed 3", "1/4", "missed 2"])
        #expect(place.index == 7)
    }
}
