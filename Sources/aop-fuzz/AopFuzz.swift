#if !LIBFUZZER
    import ArgumentParser
    import Fuzzing
    import Glibc

    @main
    struct AopFuzz: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "aop-fuzz",
            abstract: "Gives random inputs to the code that reads what others write.",
            discussion: """
                An input that ends the process, or takes longer than ten seconds, is in the file that --input-file names; `--repeat FILE` gives
                it once more. Built with libFuzzer (see docs/testing.md) the same targets are led by what code an input reaches.
                """)

        @Argument(help: "What is read: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")).") var target: FuzzTarget
        @Option(help: "How many inputs.") var inputs = 100_000
        @Option(help: "The same seed gives the same inputs.") var seed: UInt64 = 1
        @Option(help: "A directory of inputs to begin with, beside the target's own.") var corpus: String?
        @Option(help: "Where the input is that is being read.") var inputFile = "aop-fuzz-input"
        @Option(name: .customLong("repeat"), help: "Give this file's content, and nothing else.") var repeated: String?
        @Option(help: "Write the target's own inputs into this directory, and nothing else.") var writeSeeds: String?

        func run() throws {
            if let writeSeeds { return try Corpus.write(target.seeds, to: writeSeeds) }
            if let repeated { return target.run(try Corpus.read(file: repeated)) }
            let inputs = try corpus.map { try Corpus.read(directory: $0) } ?? []
            let current = try CurrentInput(path: inputFile)
            for input in inputs + target.seeds { give(input, current) }
            var mutator = Mutator(target, corpus: inputs, seed: seed)
            for _ in 0..<self.inputs { give(mutator.next(), current) }
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            print(
                "\(target.rawValue): \(self.inputs) inputs from seed \(seed), and nothing found; at most \(usage.ru_maxrss / 1024) MiB in memory"
            )
        }

        private func give(_ input: [UInt8], _ current: CurrentInput) {
            current.set(input)
            // SIGALRM ends the process.
            alarm(10)
            target.run(input)
            alarm(0)
        }
    }

    extension FuzzTarget: ExpressibleByArgument {}
#endif
