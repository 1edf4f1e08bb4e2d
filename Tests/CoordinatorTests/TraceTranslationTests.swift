import Foundation
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// The trace of a submission on its way through the protocol.
@Suite struct TraceTranslationTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func request(_ trace: [String: String]) -> WireRequest {
        .with {
            $0.submit = .with {
                $0.key = "k"
                $0.graph = .group([.noop("a")])
                $0.trace = trace
                $0.submitter = 77
            }
        }
    }

    private func trace(of request: WireRequest) throws -> [String: String]? {
        guard case .scheduler(.submit(_, _, _, _, _, _, let trace)) = try ClientRequest(wire: request) else { return nil }
        return trace.byName
    }

    @Test func soundTraces_areTaken() throws {
        let fields = ["traceparent": Self.parent, "tracestate": "a=1"]
        #expect(try trace(of: request(fields)) == fields)
        #expect(request(fields).traceProblem == nil)
        #expect(try trace(of: request([:])) == [:])
        #expect(request([:]).traceProblem == nil)
    }

    @Test func otherTraces_areLeftOut_andTheSubmissionIsTaken() throws {
        #expect(try trace(of: request(["traceparent": "nonsense", "tracestate": "a=1"])) == [:])
        #expect(request(["traceparent": "nonsense"]).traceProblem == "`traceparent` is `nonsense`, which is none of W3C Trace Context")
    }

    /// A graph that is too large for its request is asked for.
    @Test func submissionOfAGraphThatWasAskedFor_hasAllThatCameWithItsRequest() throws {
        guard case .submit(var submit)? = request(["traceparent": Self.parent]).body else { return }
        submit.cancelled = [1]
        submit.clearGraph()
        let graph = ExaminedGraph(try Graph(wire: .group([.noop("a")])))
        let key = BlobKey(digest: BlobDigest(hashing: Data("g".utf8)), size: 1)
        let reference = WireBlobReference(digest: key.digest, size: 1)
        let pull = Pull(id: PullID(rawValue: 1), key: key, purpose: .graph(request: 5, submit), fetch: BlobFetch(reference: reference))
        guard
            case .submit(5, .submit("k", _, graph, _, let cancelled, let submitter, let trace)) = PullEnd(pull: pull, host: "h")
                .graph(.success(graph))
        else {
            Issue.record("it is not submitted")
            return
        }
        #expect(cancelled == [1])
        #expect(submitter == Incarnation(77), "where its hosted code is")
        #expect(trace.byName == ["traceparent": Self.parent])
    }

    @Test func submissionsAreTakenFromPeersThatKnowNothingOfIt_andMessagesHaveNoByteMore() throws {
        var with = request(["traceparent": Self.parent])
        let long = try with.serializedBytes() as Data
        with.submit.trace = [:]
        let short = try with.serializedBytes() as Data
        #expect(short.firstRange(of: Data("trace".utf8)) == nil)
        // The number 490, of bytes: what an older peer skips.
        #expect(long.firstRange(of: Data([0xD2, 0x1E])) != nil)
        #expect(try WireRequest(serializedBytes: long).submit.trace == ["traceparent": Self.parent])
        let assignment = WireAssignment.with { $0.trace = ["traceparent": Self.parent] }
        #expect(try WireAssignment(serializedBytes: assignment.serializedBytes() as Data).trace == assignment.trace)
        #expect(try WireAssignment(jsonString: assignment.jsonString()) == assignment)
    }
}
