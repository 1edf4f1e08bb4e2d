/// What a worker has registered of an operation: which versions of it it stands for, what it receives and what it delivers.
public struct OperationSignature: Hashable, Sendable {
    public var name: String
    /// Of its behaviour and of its parameters; from 1.
    public var version: Int
    /// The oldest version whose units it takes as well; at most `version`.
    public var oldestVersion: Int
    /// Nil: it receives nothing.
    public var input: ValueType?
    public var output: ValueType
    /// Of the elements that it sends while it runs; nil: it sends none that others can read.
    public var sent: ValueType?
    /// Of the elements that it receives while their producer runs; nil: it receives none.
    public var streamed: ValueType?
    /// Of its parameters.
    public var parameters: ParameterShape
    /// It is a group that decides what it does next: a decider names it, no operation.
    public var decides = false

    public init(
        name: String, version: Int = 1, oldestVersion: Int? = nil, input: ValueType? = .any, output: ValueType = .any,
        parameters: ParameterShape = .any
    ) {
        self.parameters = parameters
        self.name = name
        self.version = max(1, version)
        self.oldestVersion = min(max(1, oldestVersion ?? version), self.version)
        self.input = input
        self.output = output
    }

    /// - Parameter version: 0: whichever there is.
    func takes(version: Int) -> Bool { version == 0 || (oldestVersion...self.version).contains(version) }
}

/// A type of values, as far as it tells whether one fits another.
public struct ValueType: Hashable, Sendable {
    /// How its values travel. The raw values are those of the wire and of the journal.
    public enum Form: UInt8, Hashable, Sendable {
        /// Unknown, or untouched: it depends on the value.
        case any = 0
        case void = 1
        case json = 2
        /// Text or bytes, which others may read as JSON, too.
        case text = 3
        /// By a codec of its own.
        case own = 4
    }

    public var form: Form
    /// Fully qualified; of a tuple without its labels. Empty: unknown.
    public var name: String
    /// Of an array that takes its elements one by one; empty: it is none.
    public var element: String

    public init(_ form: Form, name: String = "", element: String = "") {
        self.form = form
        self.name = name
        self.element = element
    }

    public static let any = ValueType(.any)
    /// JSON of a list of which nothing else is known.
    static let listOfValues = ValueType(.json, element: "values")

    /// Whether a receiver of `input` can read the values of this type: the types are the same, or only the values can tell.
    ///
    /// Text and bytes are read as JSON where JSON is expected, and by a type's own codec as that likes.
    func fits(_ input: ValueType) -> Bool {
        switch (form, input.form) {
        case (.any, _), (_, .any), (_, .void): true
        case (.text, _): !input.isAnswer
        case (.void, _): false
        case (.json, _) where isListOfUnknownType: !input.isAnswer && input.form != .text && !Self.scalars.contains(input.name)
        case (.json, _), (.own, _): name == input.name || name.isEmpty || input.name.isEmpty
        }
    }

    /// Whether a receiver of an array can take values of this type as elements.
    func fitsElement(of input: ValueType) -> Bool {
        switch form {
        case .any, .text: true
        case .void: input.form == .any
        case .json where isListOfUnknownType:
            input.form == .any || !(Self.scalars.contains(input.element) || Self.texts.contains(input.element))
        case .json, .own: input.form == .any || name.isEmpty || name == input.element
        }
    }

    /// Whether some value of this type is a JSON list. Text and bytes are none, whatever is in them.
    var mayBeList: Bool {
        switch form {
        case .any: true
        case .void, .text: false
        case .json: !Self.scalars.contains(name)
        case .own: !isAnswer
        }
    }

    /// A tuple with a codec: what a URL session's operations deliver. Nobody's text or list is encoded like that.
    private var isAnswer: Bool { form == .own && name.hasPrefix("(") }

    /// JSON of a list of texts, for whatever type reads itself from that.
    private var isListOfUnknownType: Bool { form == .json && name.isEmpty && !element.isEmpty }

    /// Types that no JSON list is read as.
    private static let scalars: Set<String> = [
        "Swift.Bool", "Swift.Int", "Swift.Int8", "Swift.Int16", "Swift.Int32", "Swift.Int64", "Swift.UInt", "Swift.UInt8",
        "Swift.UInt16", "Swift.UInt32", "Swift.UInt64", "Swift.Float", "Swift.Double",
    ]
    private static let texts: Set<String> = ["Swift.String", "Foundation.Data", "FoundationEssentials.Data", "Swift.Array<Swift.UInt8>"]
}

extension ValueType {
    /// What a command delivers, by its parameters.
    ///
    /// - Parameter isTemplated: texts with a `$` in them stand for something that is not known yet.
    static func ofCommand(_ parameters: [UInt8], isTemplated: Bool) -> ValueType {
        func isOutput(among words: [String]) -> Bool {
            let shape = ParameterShape.object([ParameterShape.Field("output", .choice(words))])
            return shape.fault(of: parameters, isTemplated: isTemplated) == nil
        }
        // Nothing is said of what cannot be read.
        if isOutput(among: []) || isOutput(among: ["json"]) { return .any }
        if isOutput(among: ["none"]) { return ValueType(.void) }
        if isOutput(among: ["lines"]) { return ValueType(.json, element: "Swift.String") }
        return ValueType(.text, name: isOutput(among: ["bytes"]) ? "Foundation.Data" : "Swift.String")
    }
}
