// The queues of operations of several devices.
//
// On several devices a host function with a stream queues its operation and returns. Operations run when a host thread
// waits (cudaStreamSynchronize, cudaStreamQuery, ...), in the order that streams and events ask for and no other:
//
//   - an operation begins as soon as those before it, in its stream or by an event, are done;
//   - a kernel runs at once then, from begin to end; one kernel runs at a time;
//   - a transfer (a copy, a fill, a collective) fills its destination with poison when it begins, and delivers when no
//     kernel of any device can run without it, so as late as the streams allow.
//
// So a kernel that forgets to wait for a transfer reads poison. With a seed (EMU_SEED) any operation that can run or
// deliver is next, which shows transfers that forget to wait for a kernel. If the source of a transfer changes while it is
// under way, poison arrives in place of the bytes that changed.
//
// All functions here are called by host threads. The lock guards streams and operations; it is not held while a
// kernel runs, and during that time no transfer begins or delivers.
#ifndef QUEUE_H
#define QUEUE_H

#include "devices.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct operation operation;

// A point in a stream: behind its first `number` operations.
typedef struct {
  cudaStream_t stream;
  uint64_t number;
} moment;

// The lock is held when these are called, except for `run`. Those that a class does not need are NULL.
typedef struct {
  // For a kernel, which runs at once: runs it without the lock.
  void (*run)(operation *operation);
  // For a transfer: it begins; it can deliver; deliver, after which it is done if `deliver` returns true.
  void (*begin)(operation *operation);
  bool (*can_deliver)(const operation *operation);
  bool (*deliver)(operation *operation);
  // The next operation that must begin before this one can deliver: sets *next to a moment of it and returns true.
  // `i` counts from 0. The moment is unknown (stream NULL) if no host thread has called for that operation yet.
  bool (*needs)(const operation *operation, unsigned i, moment *next);
  // It is done, or dropped because its device has failed: an operation of neither sort does all its work here.
  void (*end)(operation *operation, bool dropped);
} operation_class;

struct operation {
  const operation_class *class;
  operation *next; // in its stream
  cudaStream_t stream;
  uint64_t number; // in its stream, from 1 on
  uint64_t ticket; // in the order in which the host queued them
  moment *after;   // what must be done before it, beside what comes before it in the stream
  unsigned after_count;
  bool begun;
  void *data; // of the class; freed with the operation
};

struct CUstream_st {
  unsigned flags;
  int priority;
  int device;
  uint64_t id;              // no other stream of the program has it
  struct CUstream_st *next; // in the list of all
  operation *first, *last;  // queued
  uint64_t queued, done;    // how many operations so far
  uint64_t behind;          // the last count of copies in which a kernel is before what comes next
  bool visited;             // by the search for an operation
};

typedef struct CUevent_st {
  unsigned flags;
  bool recorded;
  int device;
  moment when;
  uint64_t behind;     // of its stream, when it was recorded
  double seconds;      // when it happened
  unsigned references; // the program's, and those of queued operations
  // Of an event that was recorded in a captured stream: which capture, the stream's number in it, and how many operations
  // the stream had been given. Else the capture is 0.
  unsigned capture, captured_in, captured_operations;
} event;

// The stream's own structure: NULL and its like are the default stream of the host thread's device,
// or of the given one.
cudaStream_t queue_stream(cudaStream_t stream);
cudaStream_t queue_stream_of(cudaStream_t stream, int device);

// Adds the stream to the list of all.
void queue_add_stream(cudaStream_t stream);

// Makes an operation with `data_bytes` of zeros for its class, 128-byte aligned. NULL when memory has run out.
operation *queue_make(const operation_class *class, size_t data_bytes);

// One more moment that must be done first; call it before queue_add. False when memory has run out.
bool queue_after(operation *operation, moment when);

// Queues the operation and returns the moment at which it is done. The second is for callers that hold the lock.
moment queue_add(operation *operation, cudaStream_t stream);
moment queue_add_locked(operation *operation, cudaStream_t stream);

// The end of all operations that are queued in the stream now; the caller need not hold the lock.
moment queue_end(cudaStream_t stream);

// Waits until the moment is reached, until all streams of the device are empty. Returns the device's error.
cudaError_t queue_wait(moment when);
cudaError_t queue_wait_device(int device);

// Does a piece of the queued work; returns cudaErrorNotReady if the moment is still not reached.
cudaError_t queue_query(moment when);

// For a thread of a running kernel that polls in vain: delivers the oldest transfer that can be delivered, if any.
void queue_deliver_to_running(void);

// How many copies from device to device have been queued behind a kernel, in its stream or by events, since the last call
// of queue_count_copies. Kernels before that call do not matter.
uint64_t queue_copies_behind_kernels(void);
void queue_count_copies(void);

void queue_lock(void);
void queue_unlock(void);

// The rest is called with the lock held.

bool queue_reached(moment when);

// For a search through the streams: no stream is visited yet.
void queue_forget_visits(void);

// The operation is done: removes it from its stream. For a class that ends several operations at a time.
void queue_complete(operation *operation, bool dropped);

// Drops all operations of the device, which has failed or is reset.
void queue_drop_device(int device);

// Notes that the stream's next operations come behind the moment of the event.
void queue_follow(cudaStream_t stream, const event *event);

// A copy from device to device is queued in the stream next.
void queue_note_copy(cudaStream_t stream);

// Begins what can begin, and wakes all host threads that wait, since something has changed.
void queue_changed(void);

// Waits until something changes, for 50 ms at most, during which the host thread counts as waiting.
void queue_pause(void);

// For how many seconds nothing has changed.
double queue_quiet_seconds(void);

// A host thread that has called the emulator: whether it waits, or asks again and again, for something that has not
// changed since; whether it has ended.
typedef struct host_thread {
  struct host_thread *next;
  bool waiting, ended;
  uint64_t polled; // the version of the queues that it has seen last when it waited or asked
} host_thread;
host_thread *queue_thread(void);

// Whether the thread will not call unless something changes. One that waits does not. One that asks may do something else
// before it asks again, and the work of one that has ended may be taken over by another: these have so many seconds.
bool queue_thread_idle(const host_thread *thread, double patience);

#endif
