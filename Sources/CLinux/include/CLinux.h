// What Swift cannot call by itself on Linux: variadic functions, macros, and sequences that must not be interrupted by
// Swift code. Unless stated otherwise a function returns 0 or a non-negative value on success and -1 with errno set on
// failure. Every descriptor made here is close-on-exec.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// ── processes ──

// Makes the calling process the parent of all its descendants whose own parents end (prctl PR_SET_CHILD_SUBREAPER).
int clinux_become_subreaper(void);

// A descriptor that becomes readable when `pid` ends.
int clinux_pidfd_open(pid_t pid);

// Whether the calling thread is the process's first one: the thread that inherits orphans.
bool clinux_is_main_thread(void);

// Starts `path` as the leader of a session of its own, with an empty signal mask, default signal dispositions and no
// descriptors but 0, 1, 2 and, as 3, `inherited`. Returns 0 or an errno value.
int clinux_spawn(const char *path, char *const arguments[], char *const environment[], int inherited, pid_t *pid);

// Reaps one ended child of the calling *thread*: on the first thread of a subreaper these are the orphans it inherited
// and never the children that other threads started. Returns its pid, 0 when such children exist but none has ended,
// and -1 with ECHILD when there are none.
pid_t clinux_reap_orphan(void);

// The pid of an ended child of the process that is still to be reaped, without reaping it; 0 when there is none,
// -1 with ECHILD when there are no children at all.
pid_t clinux_peek_ended_child(void);

// Whether the child `pid` has ended, without reaping it; also when it is none, or was reaped.
bool clinux_has_ended(pid_t pid);

// How the child `pid` has ended, without reaping it: `*code` is its exit code, and 0 is returned, or its signal, and 1; -1 when it has not ended,
// or is no child.
int clinux_peek_ending(pid_t pid, int *code);

// Reaps `pid`, which has ended. `*code` is its exit code or signal; returns 1 when it was ended by a signal, else 0.
int clinux_reap(pid_t pid, int *code);

// Kills every process that was started with the variable `entry` ("NAME=value", the whole of it), and what is in the session of such
// a one that leads it. While `spares`, those are left alone that have a variable which begins with `spared`, and guardians. This process is none of
// them, nor is one whose environment it may not read. One look: who is being started may be missed.
// Returns how many it found, also those that are spared or do not die; the first `capacity` of them are in `found`, some twice.
int clinux_kill_marked(const char *entry, const char *spared, bool spares, pid_t *found, int capacity);

// Forks a process that outlives this one: it kills what has `entry`, as clinux_kill_marked does, again and again until two looks in
// a row find nothing, or `limit_milliseconds` are over, and ends. For the first `spared_milliseconds` it leaves alone what has a
// variable that begins with `spared`. It has no open files, a session of its own, ignores the signals that are told to all processes,
// and is called "guardian". While this process lives it sleeps; SIGKILL ends it. Returns its pid: a child to be reaped.
pid_t clinux_start_guardian(const char *entry, const char *spared, int spared_milliseconds, int limit_milliseconds);

// ── descriptors ──

// Before `main`, in each program that has this library in it: of 0, 1 and 2 those that are closed are opened on /dev/null, for what it
// starts, too. The next file that is opened would have such a number otherwise, and whatever is printed would be written into it.

// A pipe. `ends[0]` is read from and does not block; `ends[1]` is written to.
int clinux_output_pipe(int ends[2]);

// A pipe. `ends[0]` is read from; `ends[1]` is written to and does not block.
int clinux_input_pipe(int ends[2]);

// A pair of connected stream sockets; the first does not block.
int clinux_socket_pair(int ends[2]);

int clinux_set_nonblocking(int descriptor);
int clinux_set_close_on_exec(int descriptor);

// Blocks until the other side of a socket is gone.
void clinux_wait_for_hangup(int descriptor);

// Whether the other side of a socket is gone.
bool clinux_is_hung_up(int descriptor);

// ── waiting for many descriptors (epoll) ──

#define CLINUX_READABLE 1u
#define CLINUX_WRITABLE 2u

int clinux_epoll_create(void);
// Watches `descriptor`, for `token`; errors and hang-ups count as whatever is watched for.
int clinux_epoll_add(int epoll, int descriptor, unsigned interest, uint64_t token);
int clinux_epoll_remove(int epoll, int descriptor);
// Fills `ready` with up to `capacity` tokens; -1 waits without limit. Returns how many, 0 also when interrupted.
int clinux_epoll_wait(int epoll, uint64_t *ready, int capacity, int milliseconds);

// A counter that another thread raises to wake an epoll; it does not block.
int clinux_wake_create(void);
void clinux_wake(int descriptor);
void clinux_wake_clear(int descriptor);

// ── files ──

// The disk may begin to write what the file has; nothing waits for it, and an fsync says how it went.
void clinux_begin_writing(int descriptor);

// ── signals ──

// Turns signals into bytes on a pipe, one per signal, and returns the pipe's reading end, which does not block.
// SIGPIPE is ignored from then on. Once per process: a second call adds signals to the same pipe.
int clinux_signal_pipe(const int *signals, int count);

// 1 when this process was started with `signal` ignored (SIGHUP by nohup, for one) or ignores it since; else 0.
int clinux_is_ignored(int signal);

// ── host ──

// Processors this process may run on; at least 1.
int clinux_processor_count(void);

// Sends `message` to a service manager's socket of datagrams; a path that begins with @ is an abstract name. Waits for room no longer than
// 200 ms.
int clinux_notify(const char *path, const char *message);

// Gives memory that the allocator keeps for later back to the system (malloc_trim).
void clinux_return_free_memory(void);

// Where `part` first stands in `text`; NULL: nowhere (memmem, which Swift does not see).
const void *clinux_find(const void *text, size_t length, const void *part, size_t partLength);

#endif
