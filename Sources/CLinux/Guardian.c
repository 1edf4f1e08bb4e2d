// The process that kills what a worker leaves behind. In the forked child nothing is called that is not async-signal-safe: other
// threads of the parent may have held any lock at that moment.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// ── what /proc says ──

// As getdents64(2) gives it.
struct directory_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

// 0: the name is none of a process.
static pid_t process_number(const char *name) {
    pid_t number = 0;
    for (; *name != 0; name++) {
        if (*name < '0' || *name > '9' || number > 100 * 1000 * 1000) return 0;
        number = number * 10 + (*name - '0');
    }
    return number;
}

// A file of a process, `name` with its slash. -1: it is not there, or may not be read.
static int open_file(int proc, const char *process, const char *name) {
    char path[32];
    size_t process_length = strlen(process), name_length = strlen(name);
    if (process_length + name_length >= sizeof path) return -1;
    memcpy(path, process, process_length);
    memcpy(path + process_length, name, name_length + 1);
    return openat(proc, path, O_RDONLY | O_CLOEXEC);
}

// Whether a process was started with a variable that is `text`, or, if that is a prefix, begins with it.
static bool has_variable(int proc, const char *process, const char *text, bool is_prefix) {
    int file = open_file(proc, process, "/environ");
    if (file < 0) return false;
    size_t wanted = strlen(text);
    // How much of `text` the present variable has, and that it goes on otherwise.
    size_t matched = 0;
    bool differs = false, found = false;
    char chunk[4096];
    while (!found) {
        ssize_t count = read(file, chunk, sizeof chunk);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        for (ssize_t i = 0; i < count && !found; i++) {
            if (chunk[i] == 0) {
                found = !differs && matched == wanted;
                matched = 0;
                differs = false;
            } else if (!differs) {
                if (matched < wanted && chunk[i] == text[matched]) {
                    matched++;
                    found = is_prefix && matched == wanted;
                } else {
                    differs = true;
                }
            }
        }
    }
    close(file);
    // A last one may lack its zero.
    return found || (!differs && wanted > 0 && matched == wanted);
}

#define GUARDIAN_NAME "guardian"

static bool is_guardian(int proc, const char *process) {
    int file = open_file(proc, process, "/comm");
    if (file < 0) return false;
    char name[32];
    ssize_t count = read(file, name, sizeof name);
    close(file);
    return count == sizeof GUARDIAN_NAME && memcmp(name, GUARDIAN_NAME "\n", sizeof GUARDIAN_NAME) == 0;
}

// ── killing ──

#define LEADERS_MAX 4096

struct look {
    const char *entry;
    const char *spared;
    bool spares;
    pid_t own;
    pid_t *found;
    int capacity;
    int count;
    // Leaders of their sessions that have the entry.
    pid_t leaders[LEADERS_MAX];
    int leader_count;
};

static void note(struct look *look, pid_t process) {
    if (look->count < look->capacity) look->found[look->count] = process;
    look->count++;
}

static void send_kill(int descriptor) {
    syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0);
}

static void kill_marked(int proc, const char *name, pid_t process, struct look *look) {
    if (!has_variable(proc, name, look->entry, false)) return;
    note(look, process);
    // A guardian is that of a worker which a command has started: it kills what that one leaves, which has another mark, and ends.
    if (look->spares && (has_variable(proc, name, look->spared, true) || is_guardian(proc, name))) return;
    if (look->leader_count < LEADERS_MAX && getsid(process) == process) look->leaders[look->leader_count++] = process;
    // The number may be another process's by now: what is looked at once more is what the descriptor stands for, or younger than that.
    int descriptor = clinux_pidfd_open(process);
    if (descriptor < 0) return;
    if (has_variable(proc, name, look->entry, false)) send_kill(descriptor);
    close(descriptor);
}

// What has cleared its environment, and not left the session of its command.
static void kill_member(pid_t process, struct look *look) {
    pid_t session = getsid(process);
    if (session <= 0 || session == process) return;
    int i = 0;
    while (i < look->leader_count && look->leaders[i] != session) i++;
    if (i == look->leader_count) return;
    int descriptor = clinux_pidfd_open(process);
    if (descriptor < 0) return;
    if (getsid(process) == session) {
        note(look, process);
        send_kill(descriptor);
    }
    close(descriptor);
}

int clinux_kill_marked(const char *entry, const char *spared, bool spares, pid_t *found, int capacity) {
    struct look look;
    look.entry = entry;
    look.spared = spared;
    look.spares = spares;
    look.own = getpid();
    look.found = found;
    look.capacity = capacity;
    look.count = 0;
    look.leader_count = 0;
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0) return -1;
    _Alignas(8) char entries[16 * 1024];
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && look.leader_count == 0) break;
        if (lseek(proc, 0, SEEK_SET) < 0) break;
        while (true) {
            long size = syscall(SYS_getdents64, proc, entries, sizeof entries);
            if (size < 0) {
                int error = errno;
                close(proc);
                errno = error;
                return -1;
            }
            if (size == 0) break;
            for (long at = 0; at < size;) {
                struct directory_entry *item = (struct directory_entry *)(entries + at);
                at += item->length;
                pid_t process = process_number(item->name);
                if (process == 0 || process == look.own) continue;
                if (pass == 0) {
                    kill_marked(proc, item->name, process, &look);
                } else {
                    kill_member(process, &look);
                }
            }
        }
    }
    close(proc);
    return look.count;
}

// ── the guardian ──

static int64_t now_milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void reset_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    for (int number = 1; number < NSIG; number++) {
        switch (number) {
        // A service manager, a terminal and a shell tell these to all processes there are; it ends with its supervisor.
        case SIGTERM: case SIGINT: case SIGHUP: case SIGQUIT: case SIGPIPE: action.sa_handler = SIG_IGN; break;
        default: action.sa_handler = SIG_DFL; break;
        }
        sigaction(number, &action, NULL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// Where `ps` reads the arguments of this process. Empty when the kernel does not say.
struct area {
    char *begin;
    size_t size;
};

static struct area argument_area(void) {
    struct area none = {NULL, 0};
    char text[4096];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return none;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return none;
    text[count] = 0;
    // The name may have anything in it. Behind it are the fields from the third one on.
    char *at = strrchr(text, ')');
    uintptr_t ends[2] = {0, 0};
    for (int field = 2; at != NULL && field < 49; field++) {
        at = strchr(at + 1, ' ');
        if (at != NULL && field + 1 >= 48) ends[field + 1 - 48] = (uintptr_t)strtoull(at + 1, NULL, 10);
    }
    if (ends[0] == 0 || ends[1] <= ends[0]) return none;
    return (struct area){(char *)ends[0], ends[1] - ends[0]};
}

static void take_name(const char *name, struct area arguments) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (arguments.size < 2) return;
    size_t length = strlen(name);
    if (length > arguments.size - 1) length = arguments.size - 1;
    memset(arguments.begin, 0, arguments.size);
    memcpy(arguments.begin, name, length);
}

_Noreturn static void guard(
    const char *entry, const char *spared, int spared_milliseconds, int limit_milliseconds, struct area arguments
) {
    reset_signals();
    take_name(GUARDIAN_NAME, arguments);
    if (chdir("/") < 0) {
        // It keeps a directory in use then.
    }
    struct pollfd supervisor = {.fd = 0, .events = POLLIN};
    int result;
    do {
        result = poll(&supervisor, 1, -1);
    } while (result == 0 || (result < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOMEM)));
    // Without knowing that the supervisor is gone nothing is killed.
    if (result < 0 || (supervisor.revents & POLLIN) == 0) _exit(1);
    int64_t begin = now_milliseconds();
    // What is just being started shows no environment for a moment: one look that finds nothing is not enough.
    for (int empty = 0; empty < 2;) {
        int64_t passed = now_milliseconds() - begin;
        if (passed >= limit_milliseconds) _exit(1);
        empty = clinux_kill_marked(entry, spared, passed < spared_milliseconds, NULL, 0) == 0 ? empty + 1 : 0;
        if (empty < 2) poll(NULL, 0, passed < 5000 ? 20 : 200);
    }
    _exit(0);
}

pid_t clinux_start_guardian(const char *entry, const char *spared, int spared_milliseconds, int limit_milliseconds) {
    struct area arguments = argument_area();
    int supervisor = clinux_pidfd_open(getpid());
    if (supervisor < 0) return -1;
    // Its first signals must not come to handlers that are the parent's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // Unlike fork() it runs no handlers of libraries.
    pid_t pid = _Fork();
    if (pid == 0) {
        // First of all: whoever waits for the end of what the parent has open must not wait for this process.
        if (dup2(supervisor, 0) < 0) _exit(1);
        closefrom(1);
        setsid();
        guard(entry, spared, spared_milliseconds, limit_milliseconds, arguments);
    }
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(supervisor);
    errno = error;
    return pid;
}
