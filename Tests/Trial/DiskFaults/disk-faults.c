// Loaded into a coordinator (LD_PRELOAD): lets a call on a file below a directory fail, as a disk does that is full or broken.
//
//   FAULT_DIRECTORY  below it
//   FAULT_CALL       "sync" (fsync, fdatasync) or "write" (write, pwrite, pwrite64)
//   FAULT_AT         from the n-th such call on, from 1
//   FAULT_ERRNO      with this error; a write of a full disk is cut short first
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static int is_below(int descriptor) {
    const char *directory = getenv("FAULT_DIRECTORY");
    if (!directory) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0) return 0;
    path[count] = 0;
    return strncmp(path, directory, strlen(directory)) == 0;
}

static int fails(const char *call, int descriptor) {
    const char *wanted = getenv("FAULT_CALL"), *at = getenv("FAULT_AT");
    if (!wanted || !at || strcmp(wanted, call) != 0 || !is_below(descriptor)) return 0;
    return atomic_fetch_add(&calls, 1) + 1 >= atol(at);
}

static int error_number(void) {
    const char *text = getenv("FAULT_ERRNO");
    return text ? atoi(text) : EIO;
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

int fsync(int descriptor) {
    if (fails("sync", descriptor)) return errno = error_number(), -1;
    return REAL(fsync)(descriptor);
}

int fdatasync(int descriptor) {
    if (fails("sync", descriptor)) return errno = error_number(), -1;
    return REAL(fdatasync)(descriptor);
}

// A disk that becomes full takes the first half.
#define WRITE(call)                                                                       \
    if (fails("write", descriptor)) {                                                     \
        static atomic_int halves;                                                         \
        if (error_number() == ENOSPC && count > 1 && atomic_fetch_add(&halves, 1) == 0) { \
            count /= 2;                                                                   \
            return call;                                                                  \
        }                                                                                 \
        return errno = error_number(), -1;                                                \
    }                                                                                     \
    return call

ssize_t write(int descriptor, const void *bytes, size_t count) { WRITE(REAL(write)(descriptor, bytes, count)); }

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    WRITE(REAL(pwrite)(descriptor, bytes, count, offset));
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    WRITE(REAL(pwrite64)(descriptor, bytes, count, offset));
}
