/// An operation that can be made anew, for another attempt.
///
/// Conditions, name, priority and what is delivered to it are given to the new operation by the library; listeners
/// stay with the first one, and hear of the operation as a whole: those that the new operation's initializer adds to it
/// (also a retry policy, a delegate or a time limit) are dropped.
public protocol RetryableOperation: AnyObject {
    /// A fresh operation that does the same work. Called on the first operation each time, not on an attempt.
    func new() -> Self
}
