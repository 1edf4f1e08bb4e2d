/// The context of a trace as text: what a tracer writes for another process to go on with, by name.
public enum TraceFields {
    /// As W3C Trace Context calls them.
    public static let parent = "traceparent"
    public static let state = "tracestate"

    /// Environment variables for commands, by field.
    public static let variables = [parent: "TRACEPARENT", state: "TRACESTATE"]

    /// What may travel of these fields. A trace is never worth an error: what is not sound is left out.
    ///
    /// Without a `traceparent` a `tracestate` says nothing; where fields are too many, or too large, none is taken.
    /// - Returns: `problem`: what was left out, and why; nil: nothing was.
    public static func admitted(of fields: [String: String]) -> (fields: [String: String], problem: String?) {
        guard !fields.isEmpty else { return ([:], nil) }
        guard fields.count <= Limits.traceFields else {
            return ([:], "\(fields.count) fields; the limit is \(Limits.traceFields) (traceFields)")
        }
        let bytes = fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard bytes <= Limits.traceBytes else { return ([:], "\(bytes) bytes; the limit is \(Limits.traceBytes) (traceBytes)") }
        var admitted = fields
        var problems: [String] = []
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where !isPlain(value) || name.isEmpty || !isPlain(name) {
            admitted[name] = nil
            problems.append("\(isPlain(name) ? "`\(name)`" : "the name of a field") is not of printable ASCII")
        }
        if let parent = admitted[parent], TraceParent(parent) == nil {
            admitted[Self.parent] = nil
            problems.append("`\(Self.parent)` is `\(parent.prefix(64))`, which is none of W3C Trace Context")
        }
        if admitted[parent] == nil, admitted.removeValue(forKey: state) != nil {
            problems.append("`\(state)` comes without a `\(parent)`")
        }
        return (admitted, problems.isEmpty ? nil : problems.joined(separator: "; "))
    }

    /// What an environment has of it; the variables' names are in capitals.
    public static func fields(ofEnvironment environment: [String: String]) -> [String: String] {
        var fields: [String: String] = [:]
        for (field, variable) in variables {
            if let value = environment[variable], !value.isEmpty { fields[field] = value }
        }
        return fields
    }

    /// What a command finds of it in its environment.
    public static func environment(of fields: [String: String]) -> [String: String] {
        guard !fields.isEmpty else { return [:] }
        var environment: [String: String] = [:]
        for (field, variable) in variables { environment[variable] = fields[field] }
        return environment
    }

    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}
