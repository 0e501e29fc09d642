// The work of the queues: which kernel runs next, and which transfer delivers.
#include "errors.h"
#include "launch.h"
#include "memory.h"
#include "queue_state.h"
#include "random.h"

static bool can_run(const operation *operation) {
  return operation->class->run != NULL && queue_may_begin(operation);
}

static bool can_deliver(const operation *operation) {
  const operation_class *class = operation->class;
  return operation->begun && class->deliver != NULL &&
         (class->can_deliver == NULL || class->can_deliver(operation));
}

// Of those that are first in their streams the one that the host queued first; NULL if there is none.
static operation *oldest(bool (*can)(const operation *operation)) {
  operation *found = NULL;
  for (cudaStream_t stream = NULL; (stream = queue_next_stream(stream)) != NULL;) {
    operation *first = stream->first;
    if (first != NULL && can(first) && (found == NULL || first->ticket < found->ticket)) {
      found = first;
    }
  }
  return found;
}

static void run_kernel(operation *kernel) {
  const int device = kernel->stream->device;
  queues.running = kernel;
  queue_unlock();
  kernel->class->run(kernel);
  queue_lock();
  queues.running = NULL;
  queue_complete(kernel, false);
  if (errors_sticky_of(device) != cudaSuccess) queue_drop_device(device);
  queue_changed();
}

static void deliver(operation *transfer) {
  if (transfer->class->deliver(transfer)) queue_complete(transfer, false);
}

// ---- As late as the streams allow ---------------------------------------------------------------

// A transfer whose delivery brings the moment nearer; NULL if there is none.
static operation *find_transfer(moment when) {
  cudaStream_t stream = when.stream;
  if (queue_reached(when) || stream->visited) return NULL;
  stream->visited = true;
  operation *first = stream->first, *found = NULL;
  for (unsigned i = 0; i < first->after_count && found == NULL; i++) {
    found = find_transfer(first->after[i]);
  }
  if (found != NULL || !first->begun) return found;
  if (can_deliver(first)) return first;
  moment next;
  for (unsigned i = 0; found == NULL && first->class->needs(first, i, &next); i++) {
    if (next.stream != NULL) found = find_transfer(next);
  }
  return found;
}

void queue_forget_visits(void) {
  for (cudaStream_t stream = NULL; (stream = queue_next_stream(stream)) != NULL;) {
    stream->visited = false;
  }
}

static operation *transfer_towards(moment when) {
  queue_forget_visits();
  return find_transfer(when);
}

// First the transfers for which kernels wait, so that each kernel runs as early as it can.
static operation *next_transfer(moment when) {
  for (cudaStream_t stream = NULL; (stream = queue_next_stream(stream)) != NULL;) {
    const operation *kernel = stream->first;
    while (kernel != NULL && kernel->class->run == NULL) kernel = kernel->next;
    if (kernel == NULL) continue;
    operation *found = transfer_towards((moment){stream, kernel->number});
    if (found != NULL) return found;
  }
  return transfer_towards(when);
}

// ---- In a shuffled order ------------------------------------------------------------------------

// With a seed: any operation that can run or deliver.
static operation *any_operation(uint64_t seed) {
  static uint64_t state, state_seed;
  if (seed != state_seed) state = state_seed = seed;
  operation *found = NULL;
  uint64_t candidates = 0;
  for (cudaStream_t stream = NULL; (stream = queue_next_stream(stream)) != NULL;) {
    operation *first = stream->first;
    if (first == NULL || !(can_run(first) || can_deliver(first))) continue;
    if (random_below(&state, ++candidates) == 0) found = first; // each with the same probability
  }
  return found;
}

bool queue_work(moment when) {
  const uint64_t seed = launch_seed();
  operation *next = seed != 0 ? any_operation(seed) : oldest(can_run);
  if (next == NULL) next = next_transfer(when);
  if (next == NULL) return false;
  if (next->class->run != NULL) {
    run_kernel(next);
  } else {
    deliver(next);
    queue_changed();
  }
  return true;
}

void queue_deliver_to_running(void) {
  queue_lock();
  operation *next = queues.running != NULL ? oldest(can_deliver) : NULL;
  if (next != NULL) {
    memory_open(); // while the bytes move
    deliver(next);
    while (queue_begin_all()) continue;
    memory_close_to(queues.running->stream->device);
    queues.version++;
    pthread_cond_broadcast(&queues.changed);
  }
  queue_unlock();
}
