import Foundation

/// What `bench -o json`, or `-o jsonl`, wrote of an earlier run.
struct EarlierBench: Sendable {
    /// Of one workload at one size.
    struct Entry: Sendable {
        let id: String
        let count: Int
        /// Whether what was said was encrypted; nil: of the library, and of a run before that could be.
        let curve: Bool?
        /// Every number in it; of a number inside of another object the names on the way to it, with dots between.
        let figures: [String: Double]
    }

    private(set) var entries: [Entry] = []
    private(set) var floor: [String: Double] = [:]
    /// Nil: the lines of `-o jsonl` do not say it.
    private(set) var isDebugBuild: Bool?

    /// - Throws: `Unreadable`: what is wrong with the file.
    init(file: String) throws(Unreadable) {
        let bytes: Data
        do { bytes = try Data(contentsOf: URL(fileURLWithPath: file)) } catch {
            let isThere = FileManager.default.fileExists(atPath: file)
            throw Unreadable("cannot be read: \(isThere ? error.localizedDescription : "there is no such file")")
        }
        try self.init(bytes)
    }

    init(_ bytes: Data) throws(Unreadable) {
        let isWhole = (try? JSONDecoder().decode(Figure.self, from: bytes)) != nil
        let values = isWhole ? [bytes] : bytes.split(separator: UInt8(ascii: "\n")).map { Data($0) }
        for value in values {
            guard case .members(let members)? = try? JSONDecoder().decode(Figure.self, from: value) else {
                throw Unreadable("is no JSON of `aop bench`")
            }
            take(members)
        }
        guard !entries.isEmpty else { throw Unreadable("has no workload of `aop bench` in it") }
    }

    private mutating func take(_ members: [String: Figure]) {
        if case .members(let floor)? = members["floor"] { self.floor = Figure.numbers(of: floor) }
        if case .text(let build)? = members["build"] { isDebugBuild = build == "debug" }
        if case .list(let workloads)? = members["workloads"] {
            for case .members(let workload) in workloads { take(workload) }
        }
        guard case .text(let id)? = members["id"], case .number(let count)? = members["n"], let count = Int(exactly: count) else { return }
        entries.append(Entry(id: id, count: count, curve: members["curve"]?.flag, figures: Figure.numbers(of: members)))
    }

    /// Why a file is none of an earlier run.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}

/// A value of such a file.
private enum Figure: Decodable {
    case number(Double)
    case flag(Bool)
    case text(String)
    case members([String: Figure])
    case list([Figure])
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let members = try? container.decode([String: Figure].self) {
            self = .members(members)
        } else if let list = try? container.decode([Figure].self) {
            self = .list(list)
        } else {
            self = .other
        }
    }

    var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }

    static func numbers(of members: [String: Figure], in path: String = "") -> [String: Double] {
        var found: [String: Double] = [:]
        for (name, value) in members {
            switch value {
            case .number(let number): found[path + name] = number
            case .members(let inner): found.merge(numbers(of: inner, in: path + name + ".")) { first, _ in first }
            case .flag, .text, .list, .other: break
            }
        }
        return found
    }
}
