import AOperation
import Cluster
import Wire

/// Somebody who reads what one operation sends: early or late, in pages, across everything that happens to connections.
struct SimulatedReader {
    let submission: String
    let path: String
    /// Of one page; 0: as the coordinator likes.
    let pageBytes: UInt32
    var place = ElementPlace()
    var isOver = false
    /// It reads once more what others have read, when all is over.
    let isLast: Bool
}

/// What reads in the client.
extension SimulatedClient {
    /// Everybody has read to the end.
    var hasRead: Bool { readers.values.allSatisfy(\.isOver) }

    var openReaders: [String] { readers.values.filter { !$0.isOver }.map { "a reader of \($0.submission)/\($0.path)" }.sorted() }

    /// Readers come when they come.
    func planToRead(_ id: String) {
        guard !world.areFaultsOver else { return }
        for _ in 0..<world.random.below(3) {
            world.put(.client(.beginsToRead(id)), at: world.now + world.random.below(Int64(world.random.oneIn(2) ? 1_000 : 40_000)))
        }
    }

    func beginToRead(_ id: String) {
        guard let graph = submissions.first(where: { $0.id == id })?.graph else { return }
        let senders = graph.nodes.indices.filter { graph.isStatic($0) && RandomWork.sends(graph.nodes[$0]) }
        guard let node = world.random.pick(senders) else { return }
        read(id, graph.path(of: node))
    }

    /// What was read is there for those who come when all is over.
    func readAgain() {
        let places = Set(readers.values.map { "\($0.submission)/\($0.path)" }).sorted()
        readers = [:]
        for place in places {
            let parts = place.split(separator: "/", maxSplits: 1)
            read(String(parts[0]), String(parts[1]), isLast: true)
        }
    }

    private func read(_ id: String, _ path: String, isLast: Bool = false) {
        let number = UInt64(world.drawNumber())
        let pageBytes = world.random.oneIn(2) ? 0 : UInt32(1 + world.random.below(600))
        readers[number] = SimulatedReader(submission: id, path: path, pageBytes: pageBytes, isLast: isLast)
        world.streams.begins(number)
        askToRead(number)
    }

    func askToRead(_ number: UInt64) {
        guard isConnected, let reader = readers[number], !reader.isOver else { return }
        world.ask(
            .with {
                $0.id = number
                $0.elements = .with {
                    $0.submission = reader.submission
                    $0.path = reader.path
                    $0.attempt = reader.place.attempt
                    $0.index = reader.place.index
                    $0.limitBytes = reader.pageBytes
                    $0.wait = true
                }
            })
    }

    func receive(_ response: WireResponse) {
        let number = response.request
        guard var reader = readers[number], !reader.isOver else { return }
        guard case .elements(let page)? = response.body else {
            if world.witness.isForgotten(reader.submission) {
                readers[number]?.isOver = true
                return
            }
            return world.violate("a reader of \(reader.submission)/\(reader.path) is answered with \(response)")
        }
        for event in reader.place.read(page) {
            world.streams.read(event, reader, number)
            if case .ended = event {
                reader.isOver = true
                world.streams.ended(reader, number, hasFailed: !page.failures.isEmpty)
            }
        }
        readers[number] = reader
        askToRead(number)
    }
}
