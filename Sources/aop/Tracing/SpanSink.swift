import Foundation
import Wire

/// Where finished spans go.
protocol SpanSink: Sendable {
    /// Called by whoever has ended the span.
    func take(_ record: SpanRecord)
    /// Waits until what was taken is there, as long as that may take.
    func flush()
}

/// Whose spans they are: attributes of this process.
struct SpanResource: Sendable {
    /// In the order of their names; each once.
    let attributes: [(name: String, value: String)]

    /// - Parameters:
    ///   - service: `service.name`, where the environment has none.
    ///   - environment: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` count.
    init(service: String, environment: [String: String] = [:]) {
        var attributes = [
            "service.name": service, "service.version": ProductVersion.current, "host.name": HostName.current,
            "process.pid": String(getpid()),
        ]
        for (name, value) in ExportSettings.list(environment["OTEL_RESOURCE_ATTRIBUTES"] ?? "") { attributes[name] = value }
        if let name = environment["OTEL_SERVICE_NAME"], !name.isEmpty { attributes["service.name"] = name }
        self.attributes = attributes.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }
}
