import ArgumentParser
import Coordinator
import Foundation
import Settings
import Shapes
import Wire

struct DoctorCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this host and its cluster, and say what to do.",
        discussion: """
            Looks at configuration, keys, the coordinator, its workers, their versions and clock, ports, the data directory
            and its disk, and limits. It needs no coordinator, and changes nothing. Exits 1 when something is wrong;
            warnings alone exit 0.

            Examples:
              aop doctor
              aop doctor --coordinator tcp://coordinator.example:7600
              aop doctor -o json | jq -r '.findings[] | select(.status != "ok") | .text'
            """)

    static let reportsSettings = true
    /// How long to look for a coordinator, unless told otherwise.
    private static let connectTimeout = DurationArgument(milliseconds: 3_000)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var data: DataOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        var findings = [Finding(.version, .ok, "aop \(ProductVersion.current), protocol \(ProtocolVersion.major).\(ProtocolVersion.minor)")]
        findings += ConfigurationCheck.findings(Settings.current, Settings.takeMisspeltVariables())
        let endpoint = connection.endpoint()
        let choice = KeyChoice(file: connection.keyFile, directory: connection.keys, environment: Settings.keyEnvironment)
        findings += KeyCheck(choice: choice, endpoint: endpoint).findings()
        let coordinator = CoordinatorCheck(endpoint: endpoint, choice: choice, connectTimeout: connectTimeout)
        let reached = await coordinator.findings()
        findings += reached.findings
        if isForCoordinator(endpoint) {
            let ports = PortCheck(running: reached.isConnected ? endpoint : nil)
            findings += try await OwnThread.run { ports.findings() }
            findings += DataCheck(path: data.path, reserve: Settings.number(.diskReserve) ?? CoordinatorCommand.Defaults.diskReserve)
                .findings()
        }
        findings += LimitCheck.findings()
        return try await tell(Diagnosis(findings: findings), console)
    }

    /// The default is for commands that wait for a coordinator to be started.
    private var connectTimeout: DurationArgument {
        connection.connectTimeout == ConnectionOptions.standardTimeout ? Self.connectTimeout : connection.connectTimeout
    }

    /// Whether a coordinator runs on this host, or is to.
    private func isForCoordinator(_ endpoint: Endpoint) -> Bool {
        endpoint.isLoopback || data.data != nil || !Settings.list(.listen).isEmpty
    }

    private func tell(_ diagnosis: Diagnosis, _ console: Console) async throws -> ExitStatus {
        switch console.mode {
        case .json: try await console.writeValue(diagnosis.json)
        case .jsonl: for finding in diagnosis.findings { try await console.writeValue(.shape(finding.members)) }
        case .quiet:
            let wrong = Diagnosis(findings: diagnosis.findings.filter { $0.status != .ok })
            try await console.write(wrong.text(console.outStyle))
        case .text: try await console.write(diagnosis.text(console.outStyle) + diagnosis.summary + "\n")
        }
        return diagnosis.exitStatus
    }
}
