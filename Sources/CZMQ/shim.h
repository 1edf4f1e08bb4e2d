#ifndef CZMQ_SHIM_H
#define CZMQ_SHIM_H
#include <zmq.h>
// Glibc's Swift module leaves eventfd out; the mailboxes that wake a thread's zmq_poll need it.
#include <sys/eventfd.h>
#endif
