/// An operation that can be made anew, for another attempt.
public protocol RetryableOperation: AnyObject {
    /// A fresh operation that does the same work.
    func new() -> Self
}
