// Shared by the parts of the queues: queue.c, work.c and waiting.c. The lock guards it.
#ifndef QUEUE_STATE_H
#define QUEUE_STATE_H

#include "queue.h"

#include <pthread.h>

typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  const operation *running; // the kernel that runs, without the lock
  uint64_t version;         // how often something has changed
  double changed_at;        // in seconds
} queue_state;
extern queue_state queues;

// Goes through the default streams and then through the others; NULL begins, and NULL ends.
cudaStream_t queue_next_stream(const struct CUstream_st *stream);

// Whether all that must be done before the operation is done.
bool queue_may_begin(const operation *operation);

// Begins what can begin and is no kernel. True if it has done anything.
bool queue_begin_all(void);

// work.c: does a piece of work that brings the moment nearer. False if nothing can be done before another host thread
// calls the emulator.
bool queue_work(moment when);

#endif
