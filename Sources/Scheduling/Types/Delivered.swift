/// What arrives from one producer.
enum Delivered: Hashable, Sendable {
    /// One value, of one of these types; at least one.
    case value([ValueType])
    /// The values of a group's or forEach's children.
    case array(DeliveredArray)

    static let any = Delivered.value([.any])

    /// The types of the one value that it is for who passes it on, or takes it as one of several.
    var folded: [ValueType] {
        switch self {
        case .value(let types): types
        case .array(let array): [array.folded]
        }
    }
}

/// An array of the values of children, as far as it is known which these are.
struct DeliveredArray: Hashable, Sendable {
    /// What one child delivers.
    struct Element: Hashable, Sendable {
        /// One of these; at least one.
        var types: [ValueType]
        /// The first child that delivers that: a node.
        var child: Int
    }

    /// Each kind once, in the order of the children; at least one.
    var elements: [Element]
    /// There is one child, unless more are added while it runs: a receiver of no array then takes its value.
    var mayBeOne: Bool
    /// What all of them deliver, if that is one type that travels as JSON.
    var uniform: ValueType?

    /// As one value: JSON, in which texts are strings, bytes Base64 and nothing is null.
    var folded: ValueType {
        uniform.map { ValueType(.json, name: "Swift.Array<\($0.name)>", element: $0.name) } ?? .listOfValues
    }

    /// What of it no receiver of `input` can take; nil: nothing is known to be.
    func misfit(of input: ValueType) -> Misfit? {
        if input.form == .any || input.form == .void { return nil }
        if input.element.isEmpty {
            return mayBeOne && elements.contains { $0.types.contains { $0.fits(input) } } ? nil : .array
        }
        guard let element = elements.first(where: { !$0.types.contains { $0.fitsElement(of: input) } }) else { return nil }
        return uniform == nil ? .element(element) : .array
    }

    enum Misfit: Hashable, Sendable {
        /// That it is an array, or one of these.
        case array
        case element(Element)
    }
}
