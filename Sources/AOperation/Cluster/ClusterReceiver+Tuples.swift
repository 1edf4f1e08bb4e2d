// A tuple cannot conform to a protocol, so no codec of its own can be asked for. One witness for each length: the compiler (Swift
// 6.3) takes a parameter pack for one, and then ends with a signal while it makes the conformance.

/// What `deliver(_:_:to:)` delivers: the values of two to six producers, in declared order, each as its type is decoded everywhere.
/// A receiver whose `Input` is such a tuple says `ClusterReceiver`, and nothing more.
extension ClusterReceiver {
    public static func decodeReceived<A, B>(_ values: [EncodedValue]) throws -> Input where Input == (A, B) {
        try tuple(values) as (A, B)
    }

    public static func decodeReceived<A, B, C>(_ values: [EncodedValue]) throws -> Input where Input == (A, B, C) {
        try tuple(values) as (A, B, C)
    }

    public static func decodeReceived<A, B, C, D>(_ values: [EncodedValue]) throws -> Input where Input == (A, B, C, D) {
        try tuple(values) as (A, B, C, D)
    }

    public static func decodeReceived<A, B, C, D, E>(_ values: [EncodedValue]) throws -> Input where Input == (A, B, C, D, E) {
        try tuple(values) as (A, B, C, D, E)
    }

    public static func decodeReceived<A, B, C, D, E, F>(_ values: [EncodedValue]) throws -> Input where Input == (A, B, C, D, E, F) {
        try tuple(values) as (A, B, C, D, E, F)
    }

    private static func tuple<each Element>(_ values: [EncodedValue]) throws -> (repeat each Element) {
        var count = 0
        for _ in repeat (each Element).self { count += 1 }
        guard values.count == count else {
            throw ClusterCodingError(.wrongCount, type: Input.self, reason: "\(values.count) values arrived, and it has \(count)")
        }
        var rest = values.makeIterator()
        func next<Value>(_ type: Value.Type) throws -> Value {
            guard let value = rest.next() else { preconditionFailure("as many values as there are elements") }
            return try ValueCodec.decode(type, from: value)
        }
        return (repeat try next((each Element).self))
    }
}
