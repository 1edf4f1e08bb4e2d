import AOperation
import Conformance

/// Does what its script says.
package class ScriptedBody: AsyncOperation<String>, @unchecked Sendable {
    package let parameters: ScriptParameters

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String { try await parameters.run(on: self, received: nil, failure: nil) }
}

/// Receives one value.
package class ReceiverBody: AsyncOperation<String>, ReceiverOperation, @unchecked Sendable {
    package let parameters: ScriptParameters
    package var receivedValue: Result<String, AOperationError>?

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String {
        switch receivedValue {
        case nil: return try await parameters.run(on: self, received: nil, failure: nil)
        case .success(let value): return try await parameters.run(on: self, received: .value(value), failure: nil)
        case .failure(let error):
            let fault = Fault(error)
            return try await parameters.run(on: self, received: .failure(fault), failure: error)
        }
    }
}

/// Receives the values of several, or of a group's children.
package class JoinBody: AsyncOperation<String>, ReceiverOperation, @unchecked Sendable {
    package let parameters: ScriptParameters
    package var receivedValue: Result<[String], AOperationError>?

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String {
        switch receivedValue {
        case nil: return try await parameters.run(on: self, received: nil, failure: nil)
        case .success(let values): return try await parameters.run(on: self, received: .values(values), failure: nil)
        case .failure(let error):
            let fault = Fault(error)
            return try await parameters.run(on: self, received: .failure(fault), failure: error)
        }
    }
}

// MARK: - On workers

package final class Scripted: ScriptedBody, ClusterOperation, @unchecked Sendable {}
package final class ScriptedReceiver: ReceiverBody, ClusterOperation, @unchecked Sendable {}
package final class ScriptedJoin: JoinBody, ClusterOperation, @unchecked Sendable {}

/// Is one of which only one is active at a time.
package final class ScriptedOnly: AsyncOperation<String>, ClusterOperation, UniqueOperation, @unchecked Sendable {
    package let parameters: ScriptParameters

    package var uniqueId: String { parameters.salt + (parameters.unique?.id ?? "") }
    package var onDuplicate: DuplicatePolicy { parameters.unique?.joins == true ? .join : .ignore }

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String { try await parameters.run(on: self, received: nil, failure: nil) }
}

/// Delivers a list, of which a graph file makes members of a group.
package final class ScriptedList: AsyncOperation<[ListElement]>, ClusterOperation, @unchecked Sendable {
    package struct Parameters: Codable, Sendable {
        var body: ScriptParameters
        /// What each is made of; its text is that of the run.
        var elements: [ListElement]
    }

    package let parameters: Parameters

    package init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> [ListElement] {
        let text = try await parameters.body.run(on: self, received: nil, failure: nil)
        return parameters.elements.map { element in
            var element = element
            element.text = text
            return element
        }
    }
}

/// What one member is made of: its body, and its scripted conditions.
package struct ListElement: Codable, Sendable {
    /// What the body has ended with that has delivered it.
    package var text: String?
    var body: ScriptParameters
    var c0: ScriptedCondition?
    var c1: ScriptedCondition?
    var c2: ScriptedCondition?
    var c3: ScriptedCondition?
    var c4: ScriptedCondition?
    var c5: ScriptedCondition?
}

/// Sends elements.
package class SourceBody: AsyncOperation<String>, PartialResultOperation, @unchecked Sendable {
    package typealias PartialResult = String

    package let parameters: ScriptParameters

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String {
        try await parameters.run(on: self, received: nil, failure: nil) { run, place in
            for index in 0..<(parameters.script.elements ?? 0) {
                await send(Texts.element(index, of: parameters.node, run: run))
                try await place.tick()
            }
            return nil
        }
    }
}

package final class ScriptedSource: SourceBody, ClusterOperation, @unchecked Sendable {}

/// Reads what another one sends.
package class SinkBody: AsyncOperation<String>, @unchecked Sendable {
    package let parameters: ScriptParameters
    package var receivedElements: ReceivedElements<String>?

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String {
        try await parameters.run(on: self, received: nil, failure: nil) { run, place in
            var elements: [String] = []
            func note(_ end: StreamEnd) { place.note(.consumed(parameters.node, run: run, elements, end)) }
            do {
                guard parameters.script.takes != 0, let receivedElements else {
                    note(.enough)
                    return nil
                }
                for try await element in receivedElements {
                    elements.append(element)
                    guard elements.count != parameters.script.takes else {
                        note(.enough)
                        return nil
                    }
                }
                note(.complete)
                return nil
            } catch let error as AOperationError where !Task.isCancelled && error.isOfTheProducer {
                note(.failure(Fault(error)))
                return error
            } catch {
                note(.stopped)
                throw error
            }
        }
    }
}

package final class ScriptedSink: SinkBody, StreamReceiver, ClusterOperation, @unchecked Sendable {}

extension AOperationError {
    /// Not one that says that nothing more can be read.
    fileprivate var isOfTheProducer: Bool { !(publishedError is StreamVoided) && !(publishedError is CancellationError) }
}

// MARK: - In the program

package final class HostedScripted: ScriptedBody, RetryableOperation, @unchecked Sendable {
    package func new() -> HostedScripted { HostedScripted(parameters) }
}

package final class HostedReceiver: ReceiverBody, RetryableOperation, @unchecked Sendable {
    package func new() -> HostedReceiver { HostedReceiver(parameters) }
}

package final class HostedJoin: JoinBody, RetryableOperation, @unchecked Sendable {
    package func new() -> HostedJoin { HostedJoin(parameters) }
}

package final class HostedSource: SourceBody, RetryableOperation, @unchecked Sendable {
    package func new() -> HostedSource { HostedSource(parameters) }
}

package final class HostedSink: SinkBody, StreamReceiver, @unchecked Sendable {
    package func new() -> HostedSink { HostedSink(parameters) }
}
