import Wire

extension JSONPath {
    /// So many values one path may select, on the way as at its end.
    static let selectedMax = 1_000_000

    /// What a path found.
    enum Selected: Equatable {
        /// The places of the values, at least one, in the order of the RFC. A value may be there twice.
        case values([Range<Int>])
        /// Nothing. `missing`: the beginning of the path that selects nothing.
        case nothing(missing: String)
        /// More than ``selectedMax``. `path`: the beginning that selects so many.
        case tooMany(path: String)
    }

    /// - Parameter json: one JSON value.
    /// - Throws: ``JSONScanner/Malformed``.
    /// - Complexity: O(bytes · segments) for a singular path.
    func select(from json: some RandomAccessCollection<UInt8>) throws -> Selected {
        try JSONScanner.scan(json) { scanner in
            var nodes = [try scanner.value()]
            try scanner.end()
            for segment in segments {
                var next: [Range<Int>] = []
                for node in nodes {
                    for selector in segment.selectors {
                        try scanner.select(selector, in: node, into: &next)
                        if next.count > Self.selectedMax { return .tooMany(path: segment.path) }
                    }
                }
                if next.isEmpty { return .nothing(missing: segment.path) }
                nodes = next
            }
            return .values(nodes)
        }
    }
}

extension JSONScanner {
    fileprivate mutating func select(_ selector: JSONPath.Selector, in node: Range<Int>, into places: inout [Range<Int>]) throws {
        switch (selector, try kind(of: node)) {
        case (.name(let name), .object):
            var found: Range<Int>?
            try members(of: node) { scanner, key, value in
                // Of several of one name the last one counts, as where members are read elsewhere.
                // By code points (RFC 9535, 2.3.1.2): two ways to write an accent are two names.
                if try scanner.text(of: key).utf8.elementsEqual(name.utf8) { found = value }
            }
            if let found { places.append(found) }
        case (.wildcard, .object):
            try members(of: node) { _, _, value in places.appendSelected(value) }
        case (.wildcard, .array):
            try elements(of: node) { _, value in places.appendSelected(value) }
        case (.index(let index), .array):
            let index = index < 0 ? index + (try count(of: node)) : index
            try elements(of: node) { if $0 == index { places.append($1) } }
        case (.slice(let start, let end, let step), .array):
            try slice(start, end, step, of: node, into: &places)
        case (.name, _), (.wildcard, _), (.index, _), (.slice, _):
            break
        }
    }

    /// As section 2.3.4.2.2 of the RFC says.
    private mutating func slice(_ start: Int?, _ end: Int?, _ step: Int, of node: Range<Int>, into places: inout [Range<Int>]) throws {
        guard step != 0 else { return }
        let count = try count(of: node)
        func normal(_ index: Int) -> Int { index < 0 ? index + count : index }
        guard step < 0 else {
            let (lower, upper) = (max(normal(start ?? 0), 0), normal(end ?? count))
            return try elements(of: node) { index, value in
                if index >= lower, index < upper, (index - lower) % step == 0 { places.appendSelected(value) }
            }
        }
        let (upper, lower) = (min(normal(start ?? count - 1), count - 1), end.map(normal) ?? -1)
        var found: [Range<Int>] = []
        try elements(of: node) { index, value in
            if index <= upper, index > lower, (upper - index) % step == 0 { found.appendSelected(value) }
        }
        places += found.reversed()
    }

    private mutating func kind(of node: Range<Int>) throws -> Kind {
        seek(node.lowerBound)
        return try kind()
    }

    private mutating func count(of node: Range<Int>) throws -> Int {
        var count = 0
        try elements(of: node) { _, _ in count += 1 }
        return count
    }

    private mutating func elements(of node: Range<Int>, _ body: (Int, Range<Int>) throws -> Void) throws {
        seek(node.lowerBound)
        var index = 0
        try array { scanner in
            try body(index, try scanner.value())
            index += 1
        }
    }

    private mutating func members(
        of node: Range<Int>, _ body: (JSONScanner, _ key: Range<Int>, _ value: Range<Int>) throws -> Void
    ) throws {
        seek(node.lowerBound)
        try object { scanner, key in
            let value = try scanner.value()
            try body(scanner, key, value)
        }
    }
}

extension [Range<Int>] {
    /// One more than may be selected is kept, to tell that there are too many.
    fileprivate mutating func appendSelected(_ place: Range<Int>) {
        if count <= JSONPath.selectedMax { append(place) }
    }
}
