// fence.proxy.async: products and the copy engine do not access shared memory in the way of the threads, but
// through the async proxy. A thread's write is certain to be there for them only if that thread executes the fence
// after the write, and they come after the fence (PTX ISA 9.0, 8.4 and 9.7.13.4). A barrier between the two is
// needed as well: the fence is for the thread's own writes, and the barrier is for the order of the threads. A fence
// behind the barrier may be too late for the product of another thread.
#define _GNU_SOURCE
#include "proxies.h"

enum { FENCES_KEPT = 8 }; // an older write counts from the oldest of these fences on

typedef struct {
  uint32_t stamp[FENCES_KEPT]; // of fence n: [n % FENCES_KEPT]
  unsigned count;
} thread_fences;

static thread_fences fences[BLOCK_THREADS_MAX]; // of the running block

void proxies_forget(void) {
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) fences[i].count = 0;
}

void observer_proxy_fence(worker *worker) {
  thread_fences *own = &fences[worker->running->index];
  own->stamp[own->count++ % FENCES_KEPT] = order_new_event();
}

bool proxies_fenced(const past_access *write, unsigned thread) {
  const thread_fences *writer = &fences[write->actor];
  for (unsigned i = writer->count > FENCES_KEPT ? writer->count - FENCES_KEPT : 0;
       i < writer->count; i++) {
    const past_access fence = {.stamp = writer->stamp[i % FENCES_KEPT], .actor = write->actor};
    if (fence.stamp >= write->stamp) return order_before(&fence, thread);
  }
  return false;
}
