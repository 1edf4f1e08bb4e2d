import Foundation

/// Where spans are sent, as the environment says in OpenTelemetry's own variables.
///
/// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
struct ExportSettings: Hashable, Sendable {
    enum Choice: Hashable {
        /// No collector is named, or nothing is wanted.
        case off
        case export(ExportSettings)
        /// What is said cannot be done, and why.
        case unusable(String)
    }

    /// Where spans are posted to.
    let url: URL
    let headers: [String: String]
    let timeoutMilliseconds: Int

    static let timeoutMillisecondsStandard = 10_000

    static func of(_ environment: [String: String]) -> Choice {
        func text(_ name: String) -> (name: String, value: String)? {
            environment[name].flatMap { $0.isEmpty ? nil : (name, $0.trimmingCharacters(in: .whitespaces)) }
        }
        /// That of traces goes before that of everything.
        func setting(_ name: String) -> (name: String, value: String)? {
            text("OTEL_EXPORTER_OTLP_TRACES_\(name)") ?? text("OTEL_EXPORTER_OTLP_\(name)")
        }
        guard let endpoint = setting("ENDPOINT"), text("OTEL_SDK_DISABLED")?.value.lowercased() != "true" else { return .off }
        switch text("OTEL_TRACES_EXPORTER")?.value {
        case nil, "otlp": break
        case "none": return .off
        case .some(let other): return .unusable("OTEL_TRACES_EXPORTER is `\(other.prefix(40))`: it may be `otlp` or `none`")
        }
        // Whoever takes protobuf over HTTP takes JSON at the same address.
        if let version = setting("PROTOCOL"), version.value != "http/json", version.value != "http/protobuf" {
            return .unusable(
                "\(version.name) is `\(version.value.prefix(40))`, and they are sent as http/json; collectors take that at port 4318")
        }
        guard var url = URL(string: endpoint.value), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            url.host?.isEmpty == false
        else { return .unusable("\(endpoint.name) is `\(endpoint.value.prefix(100))`: write an address such as http://127.0.0.1:4318") }
        // The address of traces is taken as it is.
        if endpoint.name == "OTEL_EXPORTER_OTLP_ENDPOINT" { url.append(path: "v1/traces") }
        var timeout = timeoutMillisecondsStandard
        if let given = setting("TIMEOUT") {
            guard let milliseconds = Int(given.value), (1...600_000).contains(milliseconds) else {
                return .unusable("\(given.name) is `\(given.value.prefix(40))`: it must be milliseconds from 1 to 600000")
            }
            timeout = milliseconds
        }
        let headers = list(setting("HEADERS")?.value ?? "")
        return .export(ExportSettings(url: url, headers: Dictionary(headers) { $1 }, timeoutMilliseconds: timeout))
    }

    /// `name=value,name=value`, with percent signs for what would end a value. What is no pair is left out.
    static func list(_ text: String) -> [(String, String)] {
        text.split(separator: ",").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, !parts[0].isEmpty else { return nil }
            return (parts[0], parts[1].removingPercentEncoding ?? parts[1])
        }
    }
}
