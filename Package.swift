// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is Swift 6 language mode with warnings as errors (one that holds older documents excepted).
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "aoperation-cluster",
    products: [
        .library(name: "AOperation", targets: ["AOperation"]),
        .library(name: "AOperationCombine", targets: ["AOperationCombine"]),
        .library(name: "Worker", targets: ["Worker"]),
        .library(name: "Cluster", targets: ["Cluster"]),
        .library(name: "ClusterTesting", targets: ["ClusterTesting"]),
        .executable(name: "aop", targets: ["aop"]),
    ],
    dependencies: [
        // Each has a line in docs/decisions/0002-dependencies.md.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        .target(
            name: "AOperation",
            dependencies: [.product(name: "Logging", package: "swift-log")],
            swiftSettings: strict
        ),
        .target(
            name: "AOperationCombine",
            dependencies: ["AOperation", .product(name: "OpenCombine", package: "OpenCombine")],
            swiftSettings: strict
        ),

        .systemLibrary(
            name: "CZMQ",
            pkgConfig: "libzmq",
            providers: [.apt(["libzmq3-dev"])]
        ),
        .target(name: "CLinux"),
        .target(
            name: "Wire",
            dependencies: [
                "CZMQ",
                "CLinux",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["Protocol"],
            swiftSettings: strict
        ),
        .target(
            name: "Scheduling",
            dependencies: [
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "GraphFile",
            dependencies: ["Wire", .product(name: "Yams", package: "Yams")],
            swiftSettings: strict
        ),
        .target(name: "Settings", dependencies: ["GraphFile", "Wire"], swiftSettings: strict),
        .target(
            name: "Coordinator",
            dependencies: [
                "Scheduling",
                "Wire",
                "CLinux",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        // What clients are shown, as JSON.
        .target(name: "Shapes", dependencies: ["Cluster", "Wire"], swiftSettings: strict),
        // Graphs and timelines as SVG and for other programs that draw: pure.
        .target(name: "Pictures", dependencies: ["Shapes", "Wire"], swiftSettings: strict),
        // HTTP: health, metrics, the JSON API and the dashboard.
        .target(
            name: "Dashboard",
            dependencies: [
                "Cluster",
                "Coordinator",
                "GraphFile",
                "Scheduling",
                "Shapes",
                "Wire",
                "CLinux",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.embedInCode("Files")],
            swiftSettings: strict
        ),
        .target(
            name: "Executing",
            dependencies: [
                "AOperation",
                "Wire",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Worker",
            dependencies: [
                "AOperation",
                "Executing",
                "Settings",
                "Wire",
                "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Cluster",
            dependencies: [
                "AOperation",
                "Executing",
                "Wire",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ClusterTesting",
            dependencies: ["AOperation", "Cluster", "Coordinator", "Scheduling", "Wire", "Worker"],
            swiftSettings: strict
        ),
        // Whole clusters in virtual time, with faults.
        .target(
            name: "Simulator",
            dependencies: [
                "AOperation", "Cluster", "Coordinator", "Executing", "Scheduling", "Wire",
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "aop-sim",
            dependencies: ["Simulator", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: strict
        ),
        // What others write, and all code that reads it.
        .target(
            name: "Fuzzing",
            dependencies: ["Cluster", "Coordinator", "Executing", "GraphFile", "Scheduling", "Settings", "Wire", "Worker"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "aop-fuzz",
            dependencies: ["Fuzzing", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: strict
        ),
        // Fixed work, to count the instructions that it takes.
        .executableTarget(
            name: "aop-count",
            dependencies: ["Scheduling"],
            swiftSettings: strict,
            // Of others Foundation brings it along.
            linkerSettings: [.linkedLibrary("m")]
        ),
        .target(name: "Benchmark", dependencies: ["AOperation", "CLinux"], swiftSettings: strict),
        .executableTarget(
            name: "aop",
            dependencies: [
                "Benchmark",
                "Cluster",
                "Coordinator",
                "Dashboard",
                "Executing",
                "GraphFile",
                "Pictures",
                "Scheduling",
                "Settings",
                "Shapes",
                "Worker",
                "Wire",
                "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "TextWorker",
            dependencies: ["AOperation", "Worker"],
            path: "examples/TextWorker",
            swiftSettings: strict
        ),
        // The package examples/Duplicates, built as a part of this one: another build of all it needs would be too dear.
        .target(
            name: "DuplicateSearch",
            dependencies: ["AOperation", .product(name: "Crypto", package: "swift-crypto")],
            path: "examples/Duplicates/Sources/DuplicateSearch",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "DuplicatesWorker",
            dependencies: ["DuplicateSearch", "Worker"],
            path: "examples/Duplicates/Sources/DuplicatesWorker",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Duplicates",
            dependencies: ["DuplicateSearch", "Cluster", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "examples/Duplicates/Sources/Duplicates",
            swiftSettings: strict
        ),

        .target(
            name: "TrialOperations", dependencies: ["AOperation"], path: "Tests/Trial/TrialOperations", swiftSettings: strict),
        // An HTTP server for tests.
        .target(name: "LocalHTTPServer", path: "Tests/Trial/LocalServer", swiftSettings: strict),
        .executableTarget(
            name: "TrialWorker",
            dependencies: ["AOperation", "ConformanceOperations", "ConformanceRemote", "TrialOperations", "Worker"],
            path: "Tests/Trial/TrialWorker", swiftSettings: strict),
        // What may be seen of a graph's run: pure, and judged by no other code of ours.
        .target(name: "Conformance", path: "Tests/Conformance/Conformance", swiftSettings: strict),
        .target(
            name: "ConformanceOperations", dependencies: ["AOperation", "Conformance"],
            path: "Tests/Conformance/ConformanceOperations", swiftSettings: strict),
        .target(
            name: "ConformanceRemote",
            dependencies: ["AOperation", "Cluster", "Conformance", "ConformanceOperations", "Executing"],
            path: "Tests/Conformance/ConformanceRemote", swiftSettings: strict),
        .testTarget(
            name: "ClusterTestingTests",
            dependencies: [
                "AOperation", "Cluster", "ClusterTesting", "Conformance", "ConformanceOperations", "ConformanceRemote", "Executing",
                "GraphFile", "Wire", "Worker",
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict),
        .testTarget(name: "SimulatorTests", dependencies: ["Simulator"], swiftSettings: strict),
        .testTarget(
            name: "ConformanceTests", dependencies: ["AOperation", "Conformance", "ConformanceOperations"], swiftSettings: strict),
        .testTarget(
            name: "AOperationTests",
            dependencies: ["AOperation", .product(name: "Logging", package: "swift-log")],
            swiftSettings: strict
        ),
        .testTarget(
            // The documents' programs are in Swift 5, and warn of what Swift 6 does not allow.
            name: "DocumentSnippetTests",
            dependencies: ["AOperation"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .testTarget(
            name: "DocumentationExampleTests",
            dependencies: [
                "AOperation", "AOperationCombine", .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AOperationCombineTests",
            dependencies: ["AOperation", "AOperationCombine", .product(name: "OpenCombine", package: "OpenCombine")],
            swiftSettings: strict
        ),
        .testTarget(name: "BenchmarkTests", dependencies: ["Benchmark"], swiftSettings: strict),
        .testTarget(name: "WireTests", dependencies: ["Wire"], swiftSettings: strict),
        .testTarget(name: "SchedulingTests", dependencies: ["Scheduling"], swiftSettings: strict),
        .testTarget(name: "GraphFileTests", dependencies: ["GraphFile", "Wire"], swiftSettings: strict),
        .testTarget(
            name: "CoordinatorTests", dependencies: ["AOperation", "Coordinator", "Executing", "Scheduling", "Wire"], swiftSettings: strict),
        .executableTarget(
            name: "TrialSubmitter", dependencies: ["AOperation", "Cluster", "TrialOperations"], path: "Tests/Trial/TrialSubmitter",
            swiftSettings: strict),
        // Not a test: what `make check-flood` sends to a coordinator.
        .executableTarget(name: "TrialFlood", dependencies: ["CZMQ"], path: "Tests/Trial/TrialFlood", swiftSettings: strict),
        .testTarget(
            name: "WorkerTests", dependencies: ["AOperation", "Executing", "LocalHTTPServer", "Worker", "Wire"], swiftSettings: strict),
        .testTarget(
            name: "ClusterTests", dependencies: ["AOperation", "Cluster", "Executing", "TrialOperations", "Wire"], swiftSettings: strict),
        .testTarget(name: "FuzzingTests", dependencies: ["Fuzzing"], exclude: ["Corpus"], swiftSettings: strict),
        .testTarget(name: "SettingsTests", dependencies: ["Settings"], swiftSettings: strict),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "aop", "Benchmark", "Cluster", "LocalHTTPServer", "Settings", "Shapes", "Wire",
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict),
        .testTarget(name: "PicturesTests", dependencies: ["Pictures", "Shapes", "Wire"], swiftSettings: strict),
        .testTarget(
            name: "DashboardTests", dependencies: ["Coordinator", "Dashboard", "Scheduling", "Shapes", "Wire"], swiftSettings: strict),
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "aop", "Duplicates", "DuplicatesWorker", "TextWorker", "TrialSubmitter", "TrialWorker", "CLinux",
                "AOperation", "Cluster", "Conformance", "ConformanceOperations", "ConformanceRemote", "DuplicateSearch", "LocalHTTPServer",
                "TrialOperations", "Wire",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict
        ),
    ]
)
