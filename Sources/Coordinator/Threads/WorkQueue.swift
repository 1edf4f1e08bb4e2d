import Foundation

/// Jobs for one thread: many post, one takes everything that waits.
final class WorkQueue<Job: Sendable>: @unchecked Sendable {
    // Invariant: `jobs` and `isClosed` are touched only while `mutex` is held; the two pointers live as long as the
    // object and are never replaced.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [Job] = []
    private var isClosed = false

    enum Taken {
        /// In the order in which they were posted; empty: the time is over.
        case jobs([Job])
        /// Closed, and everything that was posted before has been taken.
        case closed
    }

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(arrival, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(arrival)
        pthread_mutex_destroy(mutex)
        arrival.deallocate()
        mutex.deallocate()
    }

    /// Hands over a job. After `close` it is dropped.
    ///
    /// - Returns: whether it is taken.
    @discardableResult
    func post(_ job: Job) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard !isClosed else { return false }
        jobs.append(job)
        if jobs.count == 1 { pthread_cond_signal(arrival) }
        return true
    }

    /// No more jobs; those that wait are still taken.
    func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        pthread_cond_signal(arrival)
        pthread_mutex_unlock(mutex)
    }

    /// Whether nothing waits at this moment.
    var isEmpty: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return jobs.isEmpty
    }

    /// Whether nothing more is posted.
    var hasClosed: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return isClosed
    }

    /// Waits for jobs, at most `milliseconds` (nil: without end), and takes all of them.
    func take(withinMilliseconds milliseconds: Int64? = nil) -> Taken {
        var deadline = timespec()
        if let milliseconds {
            clock_gettime(CLOCK_MONOTONIC, &deadline)
            let nanoseconds = Int64(deadline.tv_nsec) + milliseconds % 1000 * 1_000_000
            deadline.tv_sec += Int(milliseconds / 1000 + nanoseconds / 1_000_000_000)
            deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while jobs.isEmpty && !isClosed {
            if milliseconds == nil {
                pthread_cond_wait(arrival, mutex)
            } else if pthread_cond_timedwait(arrival, mutex, &deadline) == ETIMEDOUT {
                break
            }
        }
        if jobs.isEmpty && isClosed { return .closed }
        let taken = jobs
        jobs = []
        return .jobs(taken)
    }
}
