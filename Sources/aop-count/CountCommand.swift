/// `aop-count WORKLOAD`: does fixed work once; `scripts/check-instructions.sh` runs it under an instruction counter.
@main
enum CountCommand {
    static func main() throws {
        let name = CommandLine.arguments.dropFirst().first ?? ""
        guard let workload = CountedWorkload(rawValue: name) else {
            let names = CountedWorkload.allCases.map(\.rawValue).joined(separator: ", ")
            throw UnknownWorkload(description: "aop-count needs one of \(names), and got `\(name)`")
        }
        print(try workload.run())
    }

    struct UnknownWorkload: Error, CustomStringConvertible {
        let description: String
    }
}
