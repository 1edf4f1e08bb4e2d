/// An operation that can be made anew, for another attempt.
///
/// Conditions, name, priority and what is delivered to it are given to the new operation by the library; listeners
/// stay with the first one.
public protocol RetryableOperation: AnyObject {
    /// A fresh operation that does the same work.
    func new() -> Self
}
