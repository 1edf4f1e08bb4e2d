import CZMQ
import Glibc

/// An eventfd: a counter in the kernel that makes its descriptor readable while it is not zero. Any thread may raise it.
final class WakeSignal: Sendable {
    let fileDescriptor: Int32

    init() throws(SystemCallError) {
        fileDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard fileDescriptor >= 0 else {
            throw SystemCallError(operation: "eventfd", errno: errno, remedy: "raise `ulimit -n`")
        }
    }

    deinit { Glibc.close(fileDescriptor) }

    func raise() {
        var one: UInt64 = 1
        while write(fileDescriptor, &one, 8) < 0 {
            // EAGAIN: the counter is at its maximum, so it is raised already.
            if errno == EAGAIN { return }
            precondition(errno == EINTR, "write to an eventfd failed with errno \(errno)")
        }
    }

    func lower() {
        var count: UInt64 = 0
        while read(fileDescriptor, &count, 8) < 0 {
            if errno == EAGAIN { return }
            precondition(errno == EINTR, "read of an eventfd failed with errno \(errno)")
        }
    }
}
