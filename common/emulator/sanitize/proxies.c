// fence.proxy.async: products and the copy engine do not access shared memory in the way of the threads, but
// through the async proxy (PTX ISA 9.0, 8.4, 8.9 and 9.7.13.4).
//
// Product: a thread's write is certain to be there for it only if that thread executes the fence after the write, and
// the product comes after the fence. A barrier between the two is needed as well: the fence is for the thread's own
// writes, and the barrier is for the order of the threads. A fence behind the barrier may be too late for the product
// of another thread.
//
// Copy that overwrites what threads have read or written: one thread starts it, so the fence may stand anywhere on the
// way from the access to the start. Mostly it is executed by the thread of the access before the barrier, or behind the
// barrier by the thread that starts the copy (D. Lustig, S. Cooksey, O. Giroux, "Mixed-Proxy Extensions for the NVIDIA
// PTX Memory Consistency Model", ISCA 2022). Before the barrier the latter says nothing of the others' accesses.
#define _GNU_SOURCE
#include "proxies.h"

enum { FENCES_KEPT = 8 }; // an older write counts from the oldest of these fences on

typedef struct {
  uint32_t stamp[FENCES_KEPT]; // of fence n: [n % FENCES_KEPT]
  unsigned count;
} thread_fences;

static thread_fences fences[CLUSTER_BLOCKS_MAX][BLOCK_THREADS_MAX]; // by the rank of the block

void proxies_forget(void) {
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) fences[order_rank()][i].count = 0;
}

void observer_proxy_fence(worker *worker) {
  thread_fences *own = &fences[order_rank()][worker->running->index];
  own->stamp[own->count++ % FENCES_KEPT] = order_proxy_fence(worker->running->index);
}

bool proxies_fenced(const past_access *write, unsigned thread) {
  const thread_fences *writer = &fences[write->rank][write->actor];
  for (unsigned i = writer->count > FENCES_KEPT ? writer->count - FENCES_KEPT : 0;
       i < writer->count; i++) {
    const past_access fence = {
        .stamp = writer->stamp[i % FENCES_KEPT], .actor = write->actor, .rank = write->rank};
    if (fence.stamp >= write->stamp) return order_before(&fence, thread);
  }
  return false;
}

bool proxies_fenced_before_copy(const past_access *past, unsigned thread) {
  return order_proxy_fenced(past, thread) || proxies_fenced(past, thread);
}
