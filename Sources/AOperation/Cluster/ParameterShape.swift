import Foundation

/// What the JSON of a type must look like to be decoded, as far as the type tells.
///
/// Found by letting it decode itself from a decoder that notes what it is asked for, and then again for every question, with
/// an error as the answer: who can do without that answer has said nothing by asking. Types that refuse the values they are
/// given on the way (0, an empty text) are ``any``, as are those that look at what there is.
public indirect enum ParameterShape: Sendable, Hashable {
    /// Unknown, or whatever it is: a type that decodes itself in its own way.
    case any
    case bool
    case integer
    case number
    case text
    /// One of these texts.
    case choice([String])
    case array(ParameterShape)
    case object([Field])

    /// A member of an object.
    public struct Field: Sendable, Hashable {
        public var name: String
        public var shape: ParameterShape
        /// Whether it must be there, and not null.
        public var isRequired: Bool

        public init(_ name: String, _ shape: ParameterShape, isRequired: Bool = true) {
            self.name = name
            self.shape = shape
            self.isRequired = isRequired
        }
    }

    /// How deep shapes within shapes are looked at.
    public static let depthMax = 16

    /// - Complexity: O(n²) for n members of the type, and of each type within it.
    public init<T: Decodable>(of type: T.Type) { self = ShapeProbe().shape(of: type).shape }

    /// The same with no member required: those that are not given come from somewhere else.
    var withoutRequiredFields: ParameterShape {
        guard case .object(let fields) = self else { return self }
        return .object(fields.map { Field($0.name, $0.shape, isRequired: false) })
    }
}

/// Finds the shapes of types. Used on one thread.
final class ShapeProbe {
    /// What is known, with a value of each type if one could be made.
    private var known: [ObjectIdentifier: (shape: ParameterShape, value: Any?)]
    /// The types that are being looked at: one that contains itself ends there.
    private var path: [ObjectIdentifier] = []

    init() {
        let texts: [(any Any.Type, Any)] = [
            (URL.self, URL(fileURLWithPath: "/")), (UUID.self, UUID()), (Data.self, Data()),
        ]
        let others: [(any Any.Type, ParameterShape, Any)] = [
            (Date.self, .number, Date(timeIntervalSinceReferenceDate: 0)), (Decimal.self, .number, Decimal()),
            (Duration.self, .any, Duration.zero), (EncodedValue.self, .any, EncodedValue.void),
        ]
        known = [:]
        for (type, value) in texts { known[ObjectIdentifier(type)] = (.text, value) }
        for (type, shape, value) in others { known[ObjectIdentifier(type)] = (shape, value) }
    }

    func shape<T: Decodable>(of type: T.Type) -> (shape: ParameterShape, value: T?) {
        if let found = known[ObjectIdentifier(type)] { return (found.shape, found.value as? T) }
        // A type within itself.
        guard path.count < ParameterShape.depthMax, !path.contains(ObjectIdentifier(type)) else { return (.any, nil) }
        path.append(ObjectIdentifier(type))
        let found = find(type)
        path.removeLast()
        known[ObjectIdentifier(type)] = found
        return found
    }

    private func find<T: Decodable>(_ type: T.Type) -> (shape: ParameterShape, value: T?) {
        if let list = type as? any DecodableList.Type { return (.array(shape(ofElementsOf: list)), list.empty as? T) }
        if let open = type as? any OpenForm.Type { return (.any, open.empty as? T) }
        let notes = ShapeNotes()
        if let value = decode(type, notes) { return (settled(type, notes), value) }
        guard notes.shape == .text, let cases = type as? any CaseIterable.Type, let first = cases.firstCase as? T else {
            return (.any, nil)
        }
        return (cases.rawTexts.flatMap { choice(type, $0) } ?? .text, first)
    }

    private func decode<T: Decodable>(_ type: T.Type, _ notes: ShapeNotes) -> T? {
        try? T(from: ShapeDecoder(notes: notes, probe: self))
    }

    private func shape<List: DecodableList>(ofElementsOf list: List.Type) -> ParameterShape { shape(of: List.Member.self).shape }

    /// Without what the type can do without.
    private func settled<T: Decodable>(_ type: T.Type, _ notes: ShapeNotes) -> ParameterShape {
        guard notes.questions.count <= ShapeNotes.questionsMax else { return .any }
        var shape = notes.shape
        for (number, name) in notes.questions.enumerated() where decode(type, ShapeNotes(failingAt: number)) != nil {
            guard case .object(let fields) = shape, let name else { return .any }
            shape = .object(fields.map { $0.name == name ? ParameterShape.Field(name, .any, isRequired: false) : $0 })
        }
        return shape
    }

    /// Cases by their raw values, unless the type reads them in other spellings, too.
    private func choice<T: Decodable>(_ type: T.Type, _ texts: [String]) -> ParameterShape? {
        let spellings = texts.flatMap { [$0.uppercased(), $0.lowercased(), $0.capitalized, " \($0)"] }
        let isStrict = spellings.allSatisfy { texts.contains($0) || decode(type, ShapeNotes(text: $0)) == nil }
        let isKnown = texts.allSatisfy { decode(type, ShapeNotes(text: $0)) != nil }
        return isStrict && isKnown ? .choice(texts) : nil
    }
}

/// What a type has asked for while it decoded itself.
final class ShapeNotes {
    private(set) var shape = ParameterShape.any
    /// By questions, the member that was asked for; nil: the value itself.
    private(set) var questions: [String?] = []
    /// It has asked for more than a shape can say.
    private var isOpen = false
    private let failing: Int?
    /// What it is told when it asks for a text.
    let text: String

    /// A type that asks more says nothing.
    static let questionsMax = 256

    init(failingAt failing: Int? = nil, text: String = "") {
        self.failing = failing
        self.text = text
    }

    /// - Throws: when this is the question that gets no answer.
    private func ask(_ name: String?) throws {
        questions.append(name)
        if questions.count - 1 == failing { throw ShapeDecoder.Unknown() }
    }

    func value(_ found: ParameterShape) throws {
        try ask(nil)
        note(found)
    }

    private func note(_ found: ParameterShape) {
        if shape != .any { isOpen = true }
        shape = isOpen ? .any : found
    }

    func beginObject() {
        if case .object = shape { return }
        note(.object([]))
    }

    func member(_ name: String, _ found: ParameterShape, isRequired: Bool = true) throws {
        try ask(name)
        add(ParameterShape.Field(name, found, isRequired: isRequired))
    }

    /// Of two answers about one member neither counts.
    func add(_ field: ParameterShape.Field) {
        guard case .object(var fields) = shape else { return }
        if let index = fields.firstIndex(where: { $0.name == field.name }) {
            if fields[index] != field { fields[index] = ParameterShape.Field(field.name, .any, isRequired: false) }
        } else {
            fields.append(field)
        }
        shape = .object(fields)
    }

    /// It decides by itself what it takes.
    func open() {
        isOpen = true
        shape = .any
    }
}

/// An array whose elements can be decoded.
private protocol DecodableList {
    associatedtype Member: Decodable
    static var empty: Self { get }
}

extension Array: DecodableList where Element: Decodable {
    typealias Member = Element
    static var empty: Self { [] }
}

/// What may be anything, or null, where it is no member.
private protocol OpenForm {
    static var empty: Self { get }
}

extension Optional: OpenForm {
    static var empty: Self { nil }
}

extension Dictionary: OpenForm {
    static var empty: Self { [:] }
}

extension Set: OpenForm {
    static var empty: Self { [] }
}

extension CaseIterable {
    fileprivate static var firstCase: Any? { allCases.first }

    /// Nil: they are no texts, or too many.
    fileprivate static var rawTexts: [String]? {
        let texts = allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        return texts.count == allCases.count && texts.count <= ParameterShape.choicesMax ? texts : nil
    }
}

extension ParameterShape {
    fileprivate static let choicesMax = 64
}
