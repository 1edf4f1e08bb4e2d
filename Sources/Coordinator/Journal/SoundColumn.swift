/// SQL for a column of a table that may be damaged: a value of another type than was written is read as NULL. Only that can be asked of
/// whatever stands in a damaged page: a text, for one, may have no bytes that could be read. Numbers of rows have no other type.
enum SoundColumn {
    static func integer(_ name: String) -> String { of("integer", name) }
    static func blob(_ name: String) -> String { of("blob", name) }

    private static func of(_ type: String, _ name: String) -> String { "CASE typeof(\(name)) WHEN '\(type)' THEN \(name) END AS \(name)" }
}
