import Foundation

/// A value that is only reached under its lock.
///
/// The lock is the system's. `Synchronization.Mutex` hands a contended lock from thread to thread in the kernel
/// (priority inheritance), after spinning: with more busy threads than processors, each operation of a queue then
/// costs several switches between threads.
///
/// What leaves a `Guarded` is the caller's responsibility: a copy of a value type, or a reference to an object that is
/// safe to share.
///
/// Invariant behind `@unchecked Sendable`: the value is only reached through the lock, whose place in memory is fixed.
package struct Guarded<Value>: ~Copyable, @unchecked Sendable {
    /// The mutex comes first: a pointer to this is one to the mutex.
    private struct Storage {
        var mutex = pthread_mutex_t()
        var value: Value
    }

    private let storage: UnsafeMutablePointer<Storage>

    package init(_ value: consuming Value) {
        storage = .allocate(capacity: 1)
        storage.initialize(to: Storage(value: value))
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init returned \(status)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        storage.deinitialize(count: 1)
        storage.deallocate()
    }

    /// Runs `body` under the lock. `body` must not call out: neither to listeners nor to another `Guarded`, except
    /// where the callee documents that it may be called under this lock.
    @inline(__always)
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&storage.pointee.value)
    }

    /// Puts `new` into the place of a part of the value. What was there is released after the lock is free: that may run the
    /// program's code.
    package func set<Part>(_ part: WritableKeyPath<Value, Part>, to new: Part) {
        var other = new
        withLock { swap(&$0[keyPath: part], &other) }
        withExtendedLifetime(other) {}
    }

    @inline(__always)
    private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        UnsafeMutableRawPointer(storage).assumingMemoryBound(to: pthread_mutex_t.self)
    }
}
