import AOperation
import Foundation
import Wire

/// The operations of one executor by their wire names.
struct OperationRegistry: Sendable {
    struct Entry: Sendable {
        let type: any ClusterOperation.Type
        let interface: ClusterInterface
        /// It is a group that decides what it does next.
        var decides: Bool { type is any ClusterGroup.Type }
        /// What it sends can be read elsewhere.
        let sends: Bool
        /// Builds one of its parameters.
        let make: @Sendable (Data) throws -> any ClusterOperation
    }

    private(set) var entries: [String: Entry] = [:]
    private(set) var conditions: [String: any ClusterCondition.Type] = [:]

    /// A type that cannot be registered.
    struct Refused: Error, CustomStringConvertible, Sendable {
        let description: String
    }

    /// - Throws: ``Refused`` when a type has no wire form, or two have one name.
    init(_ types: [any ClusterOperation.Type], conditions: [any ClusterCondition.Type] = [], withShell: Bool) throws {
        var builtIn: [any ClusterOperation.Type] = [
            NoopOperation.self, DelayOperation.self, HTTPOperation.self, ReadFileOperation.self, WriteFileOperation.self,
            DownloadOperation.self, UploadOperation.self, JSONDecodeOperation.self, JSONPathOperation.self,
            URLSessionDataTaskOperation.self, URLSessionUploadTaskOperation.self, URLSessionDownloadTaskOperation.self,
        ]
        if withShell { builtIn.append(ShellOperation.self) }
        for type in builtIn + types { try register(type) }
        var ready: [any ClusterCondition.Type] = [ReachableCondition.self, FileExistsCondition.self]
        if withShell { ready.append(CommandCondition.self) }
        for type in ready + conditions { try register(type) }
    }

    private mutating func register(_ type: any ClusterCondition.Type) throws {
        let name = type.conditionName
        if name.isEmpty { throw Refused(description: "\(type) has an empty conditionName: give it another one") }
        if let other = self.conditions[name] {
            throw Refused(description: "\(type) and \(other) are both called `\(name)`: give one of them another conditionName")
        }
        self.conditions[name] = type
    }

    /// As they are told in a hello, sorted.
    var conditionNames: [String] { conditions.keys.sorted() }

    private mutating func register(
        _ type: any ClusterOperation.Type, make: (@Sendable (Data) throws -> any ClusterOperation)? = nil
    ) throws {
        let interface: ClusterInterface
        do {
            interface = try type.clusterInterface()
        } catch {
            throw Refused(description: "\(type) cannot be registered: \(error.localizedDescription)")
        }
        if let other = entries[interface.name] {
            throw Refused(
                description: "\(type) and \(other.type) are both called `\(interface.name)`: give one of them another operationName")
        }
        let sends = (type as? any PartialResultOperation.Type)?.canSendElsewhere ?? false
        entries[interface.name] = Entry(type: type, interface: interface, sends: sends, make: make ?? { try type.make(parameters: $0) })
    }

    /// Adds a type, or has it made in another way.
    /// - Throws: ``Refused``.
    mutating func allow(_ type: any ClusterOperation.Type, make: (@Sendable (Data) throws -> any ClusterOperation)?) throws {
        if let known = entries[type.operationName], known.type == type {
            guard make != nil else { return }
            entries[type.operationName] = nil
        }
        try register(type, make: make)
    }

    mutating func allow(_ type: any ClusterCondition.Type) throws {
        if let known = conditions[type.conditionName], known == type { return }
        try register(type)
    }

    /// As they are told in a hello, by name.
    var wireTypes: [WireOperationType] {
        entries.values.sorted { $0.interface.name < $1.interface.name }.map { entry in
            let interface = entry.interface
            return .with {
                $0.name = interface.name
                $0.decides = entry.decides
                $0.version = UInt32(clamping: interface.version)
                $0.receives = interface.receives
                $0.oldestVersion = UInt32(clamping: interface.oldestAcceptedVersion)
                if let input = interface.input { $0.input = input.wire }
                $0.output = interface.output.wire
                if let sent = interface.sent { $0.sent = sent.wire }
                if let streamed = interface.streamed { $0.streamed = streamed.wire }
                if interface.parameters != .any { $0.parameters = interface.parameters.wire }
            }
        }
    }
}

extension ClusterInterface.ValueType {
    /// As the coordinator compares it.
    fileprivate var wire: WireValueType {
        .with {
            $0.form = form
            guard $0.form != .any else { return }
            $0.name = TypeName.comparable(name)
            if $0.form == .json, let elementName { $0.element = TypeName.comparable(elementName) }
        }
    }

    private var form: WireValueType.Form {
        if takesAnything || isPutTogether { return .any }
        return switch encoding {
        case .void: .void
        case .json: .json
        case .text, .bytes: .text
        case nil: .own
        }
    }
}

extension ParameterShape {
    fileprivate var wire: WireParameterShape {
        .with {
            switch self {
            case .any: $0.kind = .any
            case .bool: $0.kind = .bool
            case .integer: $0.kind = .integer
            case .number: $0.kind = .number
            case .text: $0.kind = .text
            case .choice(let texts):
                $0.kind = .choice
                $0.choices = texts
            case .array(let element):
                $0.kind = .array
                $0.element = element.wire
            case .object(let fields):
                $0.kind = .object
                $0.fields = fields.map { field in
                    .with {
                        $0.name = field.name
                        $0.shape = field.shape.wire
                        $0.required = field.isRequired
                    }
                }
            }
        }
    }
}
