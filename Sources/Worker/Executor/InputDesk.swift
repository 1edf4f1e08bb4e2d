import Executing
import Foundation
import Wire

/// Gets the large inputs of units before they start. Lives on the loop's thread.
final class InputDesk {
    private let loop: EventLoop
    private let shelf: () -> BlobShelf
    private let edit: ((inout BlobShelf) -> Void) -> Void
    private let ask: ([WireBlobRequest]) -> Void
    private let whenReady: (UnitKey, Result<Void, ReceivedValue.Missing>) -> Void
    private var fetches: InputFetches
    private var waiting: [UnitKey: [WireReceived]] = [:]

    /// - Parameters:
    ///   - directory: where values are that are too large for memory.
    ///   - shelf: where values are kept, and how it is changed.
    ///   - ask: sends requests to the coordinator; lost when there is no connection.
    ///   - whenReady: called once for each unit that was begun, unless it was cancelled.
    init(
        loop: EventLoop, directory: String, shelf: @escaping () -> BlobShelf, edit: @escaping ((inout BlobShelf) -> Void) -> Void,
        ask: @escaping ([WireBlobRequest]) -> Void,
        whenReady: @escaping (UnitKey, Result<Void, ReceivedValue.Missing>) -> Void
    ) {
        self.loop = loop
        self.shelf = shelf
        self.edit = edit
        self.ask = ask
        self.whenReady = whenReady
        fetches = InputFetches(directory: directory)
    }

    func begin(_ key: UnitKey, _ inputs: [WireReceived]) {
        waiting[key] = inputs
        collect(key)
    }

    func cancel(_ key: UnitKey) {
        waiting[key] = nil
        giveUp(key)
    }

    func receive(_ chunk: WireBlobChunk, _ bytes: Buffer?) { perform(fetches.receive(chunk, bytes)) }

    private func perform(_ steps: [InputFetches.Step]) {
        for step in steps {
            switch step {
            case .ask(let requests):
                ask(requests)
            case .write(let file, let bytes):
                file.append(bytes.data)
            case .askWhenWritten(let file, let requests):
                let resume = onLoop { (desk: InputDesk, _: Void) in desk.ask(requests) }
                file.whenWritten { resume(()) }
            case .store(let digest, let file):
                file.finish(
                    onLoop { (desk: InputDesk, bytes: Result<Data, any Error>) in desk.perform(desk.fetches.stored(digest, bytes)) })
            case .arrived(let digest, let data, let units):
                edit { shelf in for unit in units { shelf.put(data, digest: digest, for: unit) } }
                for unit in units where !fetches.isAwaited(by: unit) { collect(unit) }
            case .failed(let reason, let units):
                for unit in units { conclude(unit, .failure(ReceivedValue.Missing(reason: reason))) }
            }
        }
    }

    /// A way for other threads to call `body` on the loop's thread.
    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable (InputDesk, Value) -> Void) -> @Sendable (Value) -> Void {
        // Only dereferenced on the loop's thread.
        nonisolated(unsafe) let desk = self
        return { [loop] value in loop.submit { body(desk, value) } }
    }

    /// After the connection was made anew.
    func resume() {
        let requests = fetches.resume()
        if !requests.isEmpty { ask(requests) }
    }

    /// Asks for what is named by the unit's inputs and not at hand; then looks into lists that are large themselves.
    private func collect(_ key: UnitKey) {
        guard let inputs = waiting[key] else { return }
        do {
            let references = try InputCollector.references(in: inputs) { _ in nil }
            guard try request(references, for: key) else { return }
            guard inputs.contains(where: \.holdsStored) else {
                // Not within the step that has asked for them: what that has decided besides comes first.
                return onLoop { (desk: InputDesk, _: Void) in desk.conclude(key, .success(())) }(())
            }
        } catch let missing as ReceivedValue.Missing {
            return conclude(key, .failure(missing))
        } catch {
            return conclude(key, .failure(ReceivedValue.Missing(reason: "\(error)")))
        }
        lookInside(key, inputs)
    }

    /// Decodes large lists, which takes its time, and asks for what they name.
    private func lookInside(_ key: UnitKey, _ inputs: [WireReceived]) {
        let blobs = shelf().blobs(of: key)
        let loop = loop
        // Only dereferenced on the loop's thread.
        nonisolated(unsafe) let desk = self
        DispatchQueue.global().async {
            let references = Result {
                try InputCollector.references(in: inputs) { reference in reference.blobDigest.flatMap { blobs[$0] } }
            }
            loop.submit {
                guard desk.waiting[key] != nil else { return }
                do {
                    if try desk.request(try references.get(), for: key) { desk.conclude(key, .success(())) }
                } catch {
                    let missing = error as? ReceivedValue.Missing ?? ReceivedValue.Missing(reason: "\(error)")
                    desk.conclude(key, .failure(missing))
                }
            }
        }
    }

    /// - Returns: whether all is at hand.
    private func request(_ references: [WireBlobReference], for key: UnitKey) throws -> Bool {
        var requests: [WireBlobRequest] = []
        var isComplete = true
        for reference in references {
            guard let digest = reference.blobDigest else {
                throw ReceivedValue.Missing(reason: "a received value is named by \(reference.digest.count) bytes that are no digest")
            }
            var isHeld = false
            edit { isHeld = $0.use(digest, for: key) }
            guard !isHeld else { continue }
            isComplete = false
            requests += fetches.begin(reference, digest: digest, for: key)
        }
        if !requests.isEmpty { ask(requests) }
        return isComplete
    }

    private func conclude(_ key: UnitKey, _ result: Result<Void, ReceivedValue.Missing>) {
        guard waiting.removeValue(forKey: key) != nil else { return }
        giveUp(key)
        whenReady(key, result)
    }

    private func giveUp(_ key: UnitKey) {
        let requests = fetches.cancel(key)
        if !requests.isEmpty { ask(requests) }
    }
}

extension WireReceived {
    fileprivate var holdsStored: Bool {
        switch body {
        case .stored?: true
        case .list(let list)?: list.elements.contains(where: \.holdsStored)
        case .value?, .failure?, nil: false
        }
    }
}
