#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __WNOTHREAD
#define __WNOTHREAD 0x20000000
#endif

// ── processes ──

int clinux_become_subreaper(void) {
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int clinux_pidfd_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

bool clinux_is_main_thread(void) {
    return (pid_t)syscall(SYS_gettid) == getpid();
}

static int add_file_actions(posix_spawn_file_actions_t *actions, int inherited) {
    // A dup2 onto itself would leave close-on-exec set in older C libraries: go through another number.
    int result = 0;
    if (inherited == 3) {
        result = posix_spawn_file_actions_adddup2(actions, 3, 4);
        if (result == 0) result = posix_spawn_file_actions_adddup2(actions, 4, 3);
    } else {
        result = posix_spawn_file_actions_adddup2(actions, inherited, 3);
    }
    if (result == 0) result = posix_spawn_file_actions_addclosefrom_np(actions, 4);
    return result;
}

static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int result = posix_spawnattr_setsigmask(attributes, &none);
    if (result == 0) result = posix_spawnattr_setsigdefault(attributes, &all);
    if (result == 0) {
        result = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    return result;
}

int clinux_spawn(const char *path, char *const arguments[], char *const environment[], int inherited, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) return result;
    posix_spawnattr_t attributes;
    result = posix_spawnattr_init(&attributes);
    if (result == 0) {
        result = add_file_actions(&actions, inherited);
        if (result == 0) result = set_attributes(&attributes);
        if (result == 0) result = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

pid_t clinux_reap_orphan(void) {
    pid_t pid;
    do {
        pid = waitpid(-1, NULL, WNOHANG | __WNOTHREAD);
    } while (pid < 0 && errno == EINTR);
    return pid;
}

pid_t clinux_peek_ended_child(void) {
    siginfo_t info;
    int result;
    do {
        memset(&info, 0, sizeof info);
        result = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -1 : info.si_pid;
}

// What is told of the end of the child `pid`, which is not reaped; -1 when it is none. Without an end `si_pid` is 0.
static int look_at_child(pid_t pid, siginfo_t *info) {
    int result;
    do {
        memset(info, 0, sizeof *info);
        result = waitid(P_PID, (id_t)pid, info, WEXITED | WNOHANG | WNOWAIT);
    } while (result < 0 && errno == EINTR);
    return result;
}

bool clinux_has_ended(pid_t pid) {
    siginfo_t info;
    return look_at_child(pid, &info) < 0 || info.si_pid == pid;
}

int clinux_peek_ending(pid_t pid, int *code) {
    siginfo_t info;
    if (look_at_child(pid, &info) < 0 || info.si_pid != pid) return -1;
    *code = info.si_status;
    return info.si_code == CLD_EXITED ? 0 : 1;
}

int clinux_reap(pid_t pid, int *code) {
    int status = 0;
    pid_t result;
    do {
        result = waitpid(pid, &status, 0);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return -1;
    if (WIFSIGNALED(status)) {
        *code = WTERMSIG(status);
        return 1;
    }
    *code = WEXITSTATUS(status);
    return 0;
}

// ── descriptors ──

// Swift's runtime may have opened something by the time `main` is called, so that it is not left to that. Where there is no /dev/null there
// is nobody to tell.
__attribute__((constructor(101))) static void open_standard_descriptors(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest number that is free: this one. Children have it, too.
        if (open("/dev/null", O_RDWR) < 0) return;
    }
}

int clinux_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

int clinux_set_close_on_exec(int descriptor) {
    int flags = fcntl(descriptor, F_GETFD);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC);
}

static int close_both(int ends[2]) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return -1;
}

int clinux_output_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    return clinux_set_nonblocking(ends[0]) < 0 ? close_both(ends) : 0;
}

int clinux_input_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    return clinux_set_nonblocking(ends[1]) < 0 ? close_both(ends) : 0;
}

int clinux_socket_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    return clinux_set_nonblocking(ends[0]) < 0 ? close_both(ends) : 0;
}

void clinux_wait_for_hangup(int descriptor) {
    struct pollfd watched = {.fd = descriptor, .events = POLLRDHUP};
    int result;
    do {
        result = poll(&watched, 1, -1);
    } while (result == 0 || (result < 0 && errno == EINTR));
}

bool clinux_is_hung_up(int descriptor) {
    struct pollfd watched = {.fd = descriptor, .events = POLLRDHUP};
    return poll(&watched, 1, 0) > 0;
}

// ── waiting for many descriptors (epoll) ──

int clinux_epoll_create(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

int clinux_epoll_add(int epoll, int descriptor, unsigned interest, uint64_t token) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = (interest & CLINUX_READABLE ? EPOLLIN : 0) | (interest & CLINUX_WRITABLE ? EPOLLOUT : 0);
    event.data.u64 = token;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int clinux_epoll_remove(int epoll, int descriptor) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event);
}

int clinux_epoll_wait(int epoll, uint64_t *ready, int capacity, int milliseconds) {
    struct epoll_event events[128];
    if (capacity > 128) capacity = 128;
    int count = epoll_wait(epoll, events, capacity, milliseconds);
    if (count < 0) return errno == EINTR ? 0 : -1;
    for (int i = 0; i < count; i++) ready[i] = events[i].data.u64;
    return count;
}

int clinux_wake_create(void) {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void clinux_wake(int descriptor) {
    // Fails only when the counter is full, and then its reader is awake already.
    uint64_t one = 1;
    ssize_t ignored = write(descriptor, &one, sizeof one);
    (void)ignored;
}

void clinux_wake_clear(int descriptor) {
    uint64_t count;
    ssize_t ignored = read(descriptor, &count, sizeof count);
    (void)ignored;
}

// ── signals ──

static int signal_pipe[2] = {-1, -1};

static void note_signal(int number) {
    int error = errno;
    unsigned char byte = (unsigned char)number;
    // A full pipe already wakes its reader, who looks at everything.
    ssize_t ignored = write(signal_pipe[1], &byte, 1);
    (void)ignored;
    errno = error;
}

int clinux_signal_pipe(const int *signals, int count) {
    if (signal_pipe[0] < 0 && pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) < 0) return -1;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
    action.sa_handler = note_signal;
    sigset_t wanted;
    sigemptyset(&wanted);
    for (int i = 0; i < count; i++) {
        if (sigaction(signals[i], &action, NULL) < 0) return -1;
        sigaddset(&wanted, signals[i]);
    }
    if (sigprocmask(SIG_UNBLOCK, &wanted, NULL) < 0) return -1;
    action.sa_flags = 0;
    action.sa_handler = SIG_IGN;
    if (sigaction(SIGPIPE, &action, NULL) < 0) return -1;
    return signal_pipe[0];
}

int clinux_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

// ── host ──

int clinux_processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int count = CPU_COUNT(&set);
        if (count > 0) return count;
    }
    return 1;
}

int clinux_notify(const char *path, const char *message) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') address.sun_path[0] = 0;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    // Whoever does not read must not hold this process up: its queue may be full.
    struct timeval limit = {.tv_sec = 0, .tv_usec = 200000};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent = sendto(descriptor, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    int error = errno;
    close(descriptor);
    errno = error;
    return sent < 0 ? -1 : 0;
}

void clinux_return_free_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

const void *clinux_find(const void *text, size_t length, const void *part, size_t partLength) {
    return memmem(text, length, part, partLength);
}

// ── files ──

void clinux_begin_writing(int descriptor) { (void)sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE); }
