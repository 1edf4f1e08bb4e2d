// The scanner is libyaml as Yams carries it. Yams' own composer cannot be used here: it throws at the first map with a
// duplicate key (and names the place of the wrong one), composes recursively, keeps libyaml's depth of 1,000 lists and
// maps, which is 500 groups, and expands aliases without a bound.
internal import CYaml

/// One step of a YAML text.
enum YAMLEvent {
    case scalar(SourceScalar, anchor: String?)
    case alias(String)
    case sequenceStart(anchor: String?)
    case mappingStart(anchor: String?)
    case collectionEnd
    case documentStart
    case documentEnd
    case streamStart
    case streamEnd
}

/// Takes a YAML text apart, event by event.
final class YAMLEvents {
    private let text: SourceText
    // A pointer, not a property: libyaml keeps the parser's own address in it.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// Raises libyaml's own limit, a process-wide variable, above that of the composer, once. It counts what is scanned
    /// ahead as well, which is at most 1,024 characters.
    private static let raisedDepth: Void = yaml_set_max_nest_level(Int32(FileLimits.textDepth + 2048))

    init(_ text: SourceText) throws(SourceProblem) {
        _ = Self.raisedDepth
        self.text = text
        parser = .allocate(capacity: 1)
        input = .allocate(capacity: text.bytes.count)
        _ = input.initialize(from: text.bytes)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else { throw SourceProblem(message: "not enough memory to read it") }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The next event and its place. Not to be called after `.streamEnd`.
    func next() throws(SourceProblem) -> (YAMLEvent, GraphFilePosition) {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw problem() }
        defer { yaml_event_delete(&event) }
        let position = position(event.start_mark)
        return (try translate(event, at: position), position)
    }

    private func translate(_ event: yaml_event_t, at position: GraphFilePosition) throws(SourceProblem) -> YAMLEvent {
        switch event.type {
        case YAML_SCALAR_EVENT:
            let data = event.data.scalar
            let characters = UnsafeBufferPointer(start: data.value, count: data.length)
            let isPlain = try isPlain(tag: name(data.tag), isUnquoted: data.style == YAML_PLAIN_SCALAR_STYLE, at: position)
            return .scalar(SourceScalar(text: String(decoding: characters, as: UTF8.self), isPlain: isPlain), anchor: name(data.anchor))
        case YAML_ALIAS_EVENT:
            return .alias(name(event.data.alias.anchor) ?? "")
        case YAML_SEQUENCE_START_EVENT:
            let data = event.data.sequence_start
            try check(tag: name(data.tag), isOneOf: ["seq"], at: position)
            return .sequenceStart(anchor: name(data.anchor))
        case YAML_MAPPING_START_EVENT:
            let data = event.data.mapping_start
            try check(tag: name(data.tag), isOneOf: ["map"], at: position)
            return .mappingStart(anchor: name(data.anchor))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .collectionEnd
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_DOCUMENT_END_EVENT: return .documentEnd
        case YAML_STREAM_START_EVENT: return .streamStart
        default: return .streamEnd
        }
    }

    private func isPlain(tag: String?, isUnquoted: Bool, at position: GraphFilePosition) throws(SourceProblem) -> Bool {
        guard let tag else { return isUnquoted }
        try check(tag: tag, isOneOf: ["str", "int", "float", "bool", "null"], at: position)
        return tag != "!" && tag != Self.tagPrefix + "str"
    }

    private static let tagPrefix = "tag:yaml.org,2002:"

    private func check(tag: String?, isOneOf known: [String], at position: GraphFilePosition) throws(SourceProblem) {
        guard let tag, tag != "!", !known.contains(where: { Self.tagPrefix + $0 == tag }) else { return }
        throw SourceProblem(position: position, message: "YAML tag \(quoted(tag)) is not supported here; leave it out")
    }

    private func name(_ characters: UnsafeMutablePointer<UInt8>?) -> String? {
        characters.map { String(cString: $0) }
    }

    private func position(_ mark: yaml_mark_t) -> GraphFilePosition {
        text.position(line: Int(mark.line), column: Int(mark.column))
    }

    private func problem() -> SourceProblem {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it cannot be read"
        switch parser.pointee.error {
        case YAML_MEMORY_ERROR:
            return SourceProblem(message: "not enough memory to read it")
        case YAML_READER_ERROR:
            let value = String(max(0, parser.pointee.problem_value), radix: 16, uppercase: true)
            return SourceProblem(
                position: text.position(offset: Int(parser.pointee.problem_offset)), message: "not valid YAML: \(problem) (U+\(value))")
        default:
            break
        }
        var message = "not valid YAML: \(problem)"
        let mark = parser.pointee.problem_mark
        let start = position(parser.pointee.context_mark)
        if let context = parser.pointee.context, start != position(mark) {
            message += " (\(String(cString: context)) that starts at \(start))"
        }
        if isTab(at: Int(mark.index)) { message += "; a tab cannot indent YAML, use spaces" }
        return SourceProblem(position: position(mark), message: message)
    }

    /// `index` counts characters.
    private func isTab(at index: Int) -> Bool {
        var characters = 0
        for byte in text.bytes where byte & 0xC0 != 0x80 {
            if characters == index { return byte == 0x09 }
            characters += 1
        }
        return false
    }
}
