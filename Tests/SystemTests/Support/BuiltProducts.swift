import Foundation

/// The executables under test.
///
/// SwiftPM puts test runner and products into one folder, so they are looked for beside the running executable, and
/// beside the test bundle named on its command line where another program loads it. `AOP_TEST_PRODUCTS` names another folder, of a
/// release build for instance.
enum BuiltProducts {
    static let aop = find("aop")
    static let duplicates = find("Duplicates")
    static let duplicatesWorker = find("DuplicatesWorker")
    static let textWorker = find("TextWorker")
    static let trialSubmitter = find("TrialSubmitter")
    static let trialWorker = find("TrialWorker")

    private static func find(_ name: String) -> String {
        let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let named = ProcessInfo.processInfo.environment["AOP_TEST_PRODUCTS"].map { "\($0)/-" }
        let places = [named, executable].compactMap { $0 } + CommandLine.arguments
        for place in places {
            let candidate = URL(fileURLWithPath: place).deletingLastPathComponent().appendingPathComponent(name).path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        return "/\(name)-was-not-found-beside-\(places.first ?? "the-tests")"
    }
}
