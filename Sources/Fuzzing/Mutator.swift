/// Draws inputs: those of a corpus, changed in a few places. One seed gives the same inputs for ever.
public struct Mutator: Sendable {
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]
    private var state: UInt64

    /// No input becomes larger: bytes.
    public static let inputBytesMax = 16 << 10
    /// Numbers at which something changes.
    private static let edges: [UInt8] = [0, 1, 2, 0x7F, 0x80, 0x81, 0xFE, 0xFF]

    public init(_ target: FuzzTarget, corpus: [[UInt8]], seed: UInt64) {
        let seeds = corpus + target.seeds
        self.corpus = seeds.isEmpty ? [[]] : seeds
        words = target.words.map { Array($0.utf8) }
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    public mutating func next() -> [UInt8] {
        var input = corpus[below(corpus.count)]
        for _ in 0..<(1 << below(5)) { change(&input) }
        if input.count > Self.inputBytesMax { input.removeLast(input.count - Self.inputBytesMax) }
        return input
    }

    private mutating func change(_ input: inout [UInt8]) {
        guard !input.isEmpty else { return insert([UInt8(truncatingIfNeeded: draw())], into: &input) }
        let place = below(input.count)
        switch below(10) {
        case 0: input[place] ^= 1 << UInt8(below(8))
        case 1: input[place] = UInt8(truncatingIfNeeded: draw())
        case 2: input[place] = Self.edges[below(Self.edges.count)]
        case 3: input[place] &+= UInt8(truncatingIfNeeded: below(9) - 4)
        case 4: input.removeSubrange(place..<min(input.count, place + 1 + below(16)))
        case 5: insert((0...below(4)).map { _ in UInt8(truncatingIfNeeded: draw()) }, into: &input)
        case 6: insert(Array(input[place..<min(input.count, place + 1 + below(64))]), into: &input)
        case 7:
            let other = corpus[below(corpus.count)]
            guard !other.isEmpty else { return }
            let start = below(other.count)
            insert(Array(other[start..<min(other.count, start + 1 + below(128))]), into: &input)
        case 8:
            // As a varint: the largest numbers.
            insert([UInt8](repeating: 0xFF, count: 9) + [UInt8(below(2))], into: &input)
        default:
            if words.isEmpty { input[place] = Self.edges[below(Self.edges.count)] } else { insert(words[below(words.count)], into: &input) }
        }
    }

    private mutating func insert(_ bytes: [UInt8], into input: inout [UInt8]) {
        let place = below(input.count + 1)
        let replaces = !input.isEmpty && below(2) == 0
        input.replaceSubrange(place..<(replaces ? min(input.count, place + bytes.count) : place), with: bytes)
    }

    private mutating func below(_ bound: Int) -> Int { Int(draw() % UInt64(bound)) }

    /// SplitMix64.
    private mutating func draw() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
