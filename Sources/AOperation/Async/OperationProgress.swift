/// How far an operation has come, as it says itself: see ``AOperation/reportProgress(_:message:)``.
public struct OperationProgress: Sendable, Hashable, Codable {
    /// From 0 to 1.
    public let fraction: Double
    /// What is being done, in words for a person.
    public let message: String?

    /// A fraction outside of 0...1 becomes the nearer bound; one that is no number becomes 0.
    public init(_ fraction: Double, message: String? = nil) {
        self.fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
        self.message = message
    }
}
