import Synchronization

/// A value that is only reached under its lock.
///
/// `Mutex` asks that what leaves the lock be sendable; the library's states hold listeners and results of any type.
/// What leaves a `Guarded` is therefore the caller's responsibility: a copy of a value type, or a reference to an
/// object that is safe to share.
package struct Guarded<Value>: ~Copyable {
    private let mutex: Mutex<Unchecked<Value>>

    package init(_ value: consuming Value) {
        mutex = Mutex(Unchecked(value))
    }

    /// Runs `body` under the lock. `body` must not call out: neither to listeners nor to another `Guarded`, except
    /// where the callee documents that it may be called under this lock.
    @inline(__always)
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        try mutex.withLock { (box: inout sending Unchecked<Value>) throws(Failure) -> sending Unchecked<Result> in
            Unchecked(try body(&box.value))
        }.value
    }
}

/// Carries a value past the compiler's check.
///
/// Invariant: it is made and opened only by ``Guarded``, whose lock orders every access to the value.
struct Unchecked<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: consuming Value) {
        self.value = value
    }
}
