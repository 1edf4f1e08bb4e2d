// swift-tools-version: 6.2
import PackageDescription

/// A package of one's own: what its workers can do is a library, because two programs need it.
let package = Package(
    name: "Duplicates",
    dependencies: [
        // Where this repository is; a package elsewhere names its URL and a version.
        .package(name: "aoperation-cluster", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .target(
            name: "DuplicateSearch",
            dependencies: [
                .product(name: "AOperation", package: "aoperation-cluster"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .executableTarget(
            name: "DuplicatesWorker",
            dependencies: ["DuplicateSearch", .product(name: "Worker", package: "aoperation-cluster")]
        ),
        .executableTarget(
            name: "Duplicates",
            dependencies: [
                "DuplicateSearch",
                .product(name: "Cluster", package: "aoperation-cluster"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
    ]
)
