import Foundation

/// Runs cascades without recursion: what is asked for while a job runs on this thread is run after that job.
///
/// Chains are as long as a program makes them: a chain of 100,000 operations that are released, cancelled upwards or
/// ended one by one must not need 100,000 stack frames. `run` returns after everything it set off has run, unless it
/// was itself called from a job.
enum Trampoline {
    private final class Jobs {
        var waiting = Backlog<() -> Void>()

        func drain() { while let next = waiting.popFirst() { next() } }
    }

    /// Where a thread that is draining keeps its jobs; nil on all others.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = pthread_key_create(&key, nil)
        precondition(status == 0, "no thread-local key is left in this process (error \(status))")
        return key
    }()

    private static var current: Jobs? {
        pthread_getspecific(key).map { Unmanaged<Jobs>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs `job` now, or, when called from within a job on this thread, as soon as that has returned.
    static func run(_ job: @escaping () -> Void) {
        if let current {
            current.waiting.append(job)
            return
        }
        let jobs = Jobs()
        withExtendedLifetime(jobs) {
            let status = pthread_setspecific(key, Unmanaged.passUnretained(jobs).toOpaque())
            precondition(status == 0, "the thread's job list could not be stored (error \(status))")
            job()
            jobs.drain()
            pthread_setspecific(key, nil)
        }
    }

    /// The thread is about to block: what was asked for on it runs before. It may be what is waited for, as when a listener, which
    /// is called from within a job, cancels a group and waits for its end.
    static func runWaiting() { current?.drain() }

    /// Empties `objects`, and releases them one after another, where releasing one may release the next of a chain.
    static func release<Object: AnyObject>(_ objects: inout [Object]) {
        guard !objects.isEmpty else { return }
        let holder = Holder(objects)
        objects = []
        run { holder.objects = [] }
    }

    private final class Holder {
        var objects: [AnyObject]
        init(_ objects: [AnyObject]) { self.objects = objects }
    }
}
