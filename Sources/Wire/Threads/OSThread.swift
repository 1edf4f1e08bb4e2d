import Foundation

/// A thread of the operating system that belongs to one piece of work until it returns.
///
/// What blocks is done on such threads only, not in Swift's cooperative pool. Foundation's `Thread` does not tell when the system has none to give.
package final class OSThread: @unchecked Sendable {
    // Invariant: `handle` is written once, in `init`, before the object is shared; `joined` is read and written only by
    // the one owner that calls `join`.
    private let handle: pthread_t
    private var joined = false

    private final class Body {
        let name: String
        let run: @Sendable () -> Void
        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts the thread. `name` is what debuggers and `ps -L` show; the system keeps its first 15 bytes.
    ///
    /// - Throws: `ThreadError` when the system has no more threads to give.
    package init(name: String, stackBytes: Int = Limits.decodingStackBytes, _ run: @escaping @Sendable () -> Void) throws(ThreadError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackBytes)
        let body = Unmanaged.passRetained(Body(name: name, run: run))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else {
                    preconditionFailure("pthread_create passed no argument; it was given the thread's body")
                }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                Thread.current.name = body.name
                body.run()
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            body.release()
            throw ThreadError(name: name, errno: status)
        }
        handle = thread
    }

    deinit {
        if !joined { pthread_detach(handle) }
    }

    /// Whether so many more threads can be started at this moment, for what ends the process where it cannot have them.
    ///
    /// - Throws: ``ThreadError``: they cannot.
    package static func checkRoom(for count: Int) throws(ThreadError) {
        let go = DispatchSemaphore(value: 0)
        var threads: [OSThread] = []
        defer {
            for _ in threads { go.signal() }
            for thread in threads { thread.join() }
        }
        for _ in 0..<count { threads.append(try OSThread(name: "aop-check") { go.wait() }) }
    }

    /// Runs what must be done, if need be late: where the system has no more threads to give, on one of Dispatch's, which tries again until
    /// there is one.
    package static func detach(name: String, _ run: @escaping @Sendable () -> Void) {
        do { _ = try OSThread(name: name, run) } catch { DispatchQueue.global().async(execute: run) }
    }

    /// Waits for the thread's end. For its owner, once; further calls return at once.
    package func join() {
        guard !joined else { return }
        joined = true
        pthread_join(handle, nil)
    }
}

/// A thread could not be started.
public struct ThreadError: Error, CustomStringConvertible {
    public let name: String
    public let errno: Int32

    package init(name: String, errno: Int32) {
        self.name = name
        self.errno = errno
    }

    public var description: String {
        "cannot start the thread “\(name)”: \(String(cString: strerror(errno))); raise the limit on processes (ulimit -u, TasksMax=)"
    }
}
