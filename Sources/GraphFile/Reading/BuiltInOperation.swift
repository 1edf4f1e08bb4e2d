import Wire

/// Operations every worker has, and what they take.
enum BuiltInOperation: String, CaseIterable {
    case noop, delay, http, download, upload, readFile, writeFile, jsonDecode, jsonPath

    struct Parameter {
        enum Form {
            /// A scalar as it is written.
            case text
            /// From zero to `Limits.delaySeconds`.
            case seconds
            /// Of HTTP.
            case url
            /// Of HTTP.
            case method
            /// A map of texts: the fields of an HTTP request.
            case headers
            /// A path into JSON.
            case jsonPath

            /// What is wrong with a text that the worker would be given as it is; nil: nothing.
            func fault(of text: String) -> String? {
                switch self {
                case .text, .seconds, .headers: return nil
                case .url:
                    if case .failure(let reason) = HTTPRequestText.url(text) { return "is no URL of HTTP: \(reason)" }
                    return nil
                case .method: return HTTPRequestText.isToken(text) ? nil : "is no method of HTTP; write a word, e.g. PUT"
                case .jsonPath:
                    do { _ = try JSONPath(text) } catch { return "is no path: \(error)" }
                    return nil
                }
            }
        }
        let name: String
        let form: Form
        let isRequired: Bool
    }

    var parameters: [Parameter] {
        switch self {
        case .noop, .jsonDecode: []
        case .delay: [Parameter(name: "seconds", form: .seconds, isRequired: true)]
        case .http:
            [
                Parameter(name: "url", form: .url, isRequired: true),
                Parameter(name: "method", form: .method, isRequired: false),
                Parameter(name: "headers", form: .headers, isRequired: false),
                Parameter(name: "body", form: .text, isRequired: false),
            ]
        case .download:
            [
                Parameter(name: "url", form: .url, isRequired: true),
                Parameter(name: "to", form: .text, isRequired: true),
                Parameter(name: "headers", form: .headers, isRequired: false),
            ]
        case .upload:
            [
                Parameter(name: "url", form: .url, isRequired: true),
                Parameter(name: "from", form: .text, isRequired: true),
                Parameter(name: "method", form: .method, isRequired: false),
                Parameter(name: "headers", form: .headers, isRequired: false),
            ]
        case .jsonPath: [Parameter(name: "path", form: .jsonPath, isRequired: true)]
        case .readFile, .writeFile: [Parameter(name: "path", form: .text, isRequired: true)]
        }
    }

    /// What it sends as the body of a request, in words; nil: nothing, with these parameters.
    func body(given parameters: [String: JSONValue]) -> String? {
        switch self {
        case .upload: "a file"
        case .http: parameters["body"].map { $0 == .string("") } == false ? "`body`" : nil
        default: nil
        }
    }

    /// What it does to a received value, without which it cannot do anything; nil: it needs none.
    var workOnReceived: String? {
        switch self {
        case .writeFile: "writes"
        case .jsonDecode: "decodes"
        case .jsonPath: "selects from"
        case .noop, .delay, .http, .download, .upload, .readFile: nil
        }
    }
}

extension GraphReader {
    /// The parameters of a built-in operation. nil: reported.
    mutating func readBuiltIn(
        _ operation: BuiltInOperation, _ entries: [SourceEntry], at place: Int, index: Int, scope: VariableScope, node: Int
    ) -> JSONValue? {
        var members: [String: JSONValue] = [:]
        var given: Set<String> = []
        let known = operation.parameters
        for (name, key, value) in readEntries(entries, node: node) {
            given.insert(name)
            guard let parameter = known.first(where: { $0.name == name }) else {
                report(unknownParameter(name, of: operation), value: key, node: node)
                continue
            }
            if document.scalar(value)?.value == .null {
                report("`\(name)` of `\(operation.rawValue)` has no value", value: value, node: node)
                continue
            }
            members[name] = readParameter(parameter, of: operation, value, scope: scope, node: node)
        }
        for parameter in known where parameter.isRequired && !given.contains(parameter.name) {
            report("`\(operation.rawValue)` needs the parameter `\(parameter.name)` in `with`", value: place, node: node)
        }
        if let work = operation.workOnReceived, drafts[index].receives.isEmpty {
            report(
                "`\(operation.rawValue)` \(work) the value it receives, and there is no `receives`", at: drafts[node].position, node: node)
        }
        if let sent = operation.body(given: members), case .string(let method)? = members["method"],
            HTTPRequestText.bodilessMethods.contains(method.uppercased())
        {
            report(
                "`\(operation.rawValue)` sends \(sent), and its `method` is \(quoted(method)), which sends nothing", value: place,
                node: node)
        }
        let isWhole = known.allSatisfy { !$0.isRequired || given.contains($0.name) }
        return isWhole && members.count == entries.count ? .object(members) : nil
    }

    private mutating func unknownParameter(_ name: String, of operation: BuiltInOperation) -> String {
        let names = operation.parameters.map(\.name)
        let hint = hint(for: name) { _ in names }
        let takes = names.isEmpty ? "none" : names.map { "`\($0)`" }.joined(separator: ", ")
        return "unknown parameter \(quoted(name)) of `\(operation.rawValue)`" + (hint.isEmpty ? "; it takes \(takes)" : hint)
    }

    private mutating func readParameter(
        _ parameter: BuiltInOperation.Parameter, of operation: BuiltInOperation, _ value: Int, scope: VariableScope, node: Int
    ) -> JSONValue? {
        let what = "`\(parameter.name)` of `\(operation.rawValue)`"
        switch parameter.form {
        case .text, .jsonPath, .url, .method:
            if isSecret(value) { return readSecret(value, node: node) }
            guard let text = readText(value, as: what, node: node) else { return nil }
            guard let rendered = readTemplate(text, scope: scope, value: value, node: node) else { return nil }
            if parameter.isRequired, rendered.isEmpty {
                report("\(what) is empty", value: value, node: node)
                return nil
            }
            if let text = Self.known(rendered, scope: scope), let fault = parameter.form.fault(of: text) {
                report("\(what): \(quoted(text)) \(fault)", value: value, node: node)
                return nil
            }
            return .string(rendered)
        case .seconds:
            let number = readNumber(what, value, scope: scope, node: node)
            if case .number(let text)? = number, let seconds = Double(text), seconds > Limits.delaySeconds {
                report("\(what) is \(text), and may be up to \(Int(Limits.delaySeconds))", value: value, node: node)
                return nil
            }
            return number
        case .headers:
            guard case .mapping(let entries) = document[value].content else {
                report("\(what) must be a map of texts, found \(document.description(value))", value: value, node: node)
                return nil
            }
            var members: [String: JSONValue] = [:]
            for (name, key, value) in readEntries(entries, node: node) {
                if let fault = HTTPRequestText.fault(ofHeader: name) { report("\(what): \(quoted(name)) \(fault)", value: key, node: node) }
                if document.scalar(value)?.value == .null {
                    report("\(quoted(name)) in \(what) has no value", value: value, node: node)
                    continue
                }
                let member = readTextOrSecret(value, as: "\(quoted(name)) in \(what)", scope: scope, node: node)
                if case .string(let text)? = member, let known = Self.known(text, scope: scope), !HTTPRequestText.isFieldValue(known) {
                    report(
                        "\(quoted(name)) in \(what) has a line break or another control character in it; take it out", value: value,
                        node: node)
                }
                members[name] = member
            }
            return .object(members)
        }
    }

    /// What the worker makes of a rendered text; nil: only the worker knows, as it has an element in it.
    private static func known(_ text: String, scope: VariableScope) -> String? {
        guard scope.isTemplated, let pieces = Template.pieces(of: text) else { return text }
        var known = ""
        for piece in pieces {
            guard case .text(let text) = piece else { return nil }
            known += text
        }
        return known
    }

    /// A number, or `${…}` that gives one.
    private mutating func readNumber(_ what: String, _ value: Int, scope: VariableScope, node: Int) -> JSONValue? {
        if let scalar = document.scalar(value) {
            if case .number(let text) = scalar.value, !text.hasPrefix("-") { return .number(text) }
            if let pieces = Template.pieces(of: scalar.text) {
                if let typed = Self.typedReference(pieces, scope: scope) { return .string(typed) }
                guard let text = readTemplate(scalar.text, scope: scope, value: value, node: node) else { return nil }
                // An element's text is not known here: the worker sees it.
                if scope.isTemplated, text.utf8.contains(UInt8(ascii: "$")) { return .string(text) }
                if JSONNumber.isOne(text), !text.hasPrefix("-") { return .number(text) }
                report("\(what) must be a number from 0 on, found \(quoted(text))", value: value, node: node)
                return nil
            }
        }
        report("\(what) must be a number from 0 on, found \(document.description(value))", value: value, node: node)
        return nil
    }
}
