// The order of a block's accesses: which of them are ordered by barriers, and which are not.
//
// Time is a counter, and an access has its value as a stamp. The counter advances at each event
// that orders accesses. So comparing stamps tells which accesses an event orders, as in the epochs
// of Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009:
//
//   block barrier   all accesses of the block so far come before all later ones, but for those of threads
//                   that have ended without coming to it
//   __syncwarp()    those of the lanes that took part come before later ones of these lanes
//   mbarrier, bar   those that a thread knows of when it arrives, its own among them, come before
//                   what others do who have waited for that phase
//   cluster         those that a thread of the cluster knows of when it arrives come before what its threads do who have
//                   waited; if it arrives relaxed, only those before the block's last fence
//   launch          all accesses of earlier launches come before its own; if it is early, those of the kernel before it do
//                   only for threads that have waited for that one's end, or know of such a wait
//
// So each thread has a clock for each other one, and so has each barrier for its current phase.
// Asynchronous accesses have clocks of their own, and only threads that have waited for them know their
// time: there is a clock for the box copies of each barrier that counts their bytes, and one for the
// products of each warpgroup. For these, __syncthreads() only passes on the knowledge of its threads.
//
// Nothing else orders accesses, except atomic operations. Shuffles and votes do not: they "do not
// imply a memory barrier" (CUDA C++ Programming Guide, "Warp Shuffle Functions"). Neither do wmma
// operations, which wait for the warp's lanes but promise nothing about memory. The lab does not
// assume that lanes run in lockstep (Programming Guide, "Independent Thread Scheduling").
//
// Atomic operations are treated generously, so that locks and counters of finished blocks give no false
// report: they order two accesses as soon as both warps (both blocks, in global memory) have done an atomic
// operation since the first access. In global memory a thread of the first block must have called
// __threadfence() between, and a thread of the second block behind its own operation, unless that one acquires, or behind
// one of another thread that it knows of by a barrier, because an atomic operation does not order other accesses (CUDA
// C++ Programming Guide, "Memory Fence Functions"; PTX ISA, "Release and Acquire Patterns"). An arrival at an mbarrier
// also counts for the lanes of its warp that it has met in a warp function since their accesses; this suffices for a
// read whose value went into a shuffle.
//
// A fence.proxy.async between two accesses is passed on in the same way (proxies.c): each clock says as well which
// accesses of threads come before the present one with such a fence on the way, whichever thread has executed it.
#ifndef SANITIZE_ORDER_H
#define SANITIZE_ORDER_H

#include "observer.h"

// Whether a read has served only as the guess of a compare-and-swap: no, not known yet, or yes; see guesses.h.
enum { GUESS_NONE, GUESS_OPEN, GUESS_MADE };

// A past access. There is none when the stamp is 0.
typedef struct {
  uint32_t stamp;
  uint32_t place;      // see places.h
  unsigned actor : 12; // in its block: a thread or another actor, see below
  unsigned rank : 4;   // of the block in its cluster
  unsigned bytes : 8;
  unsigned kind : 4; // observed_kind
  unsigned part : 2; // the part of the cell: a bit for each byte, see shadow.h
  unsigned guess : 2;
} past_access;

// The actors: the block's threads, box copies by the number of their barrier, and warpgroups' products. The last three
// stand for the phases of the cluster's barrier that are over, for those of them that a fence.proxy.async stands behind, and
// for the kernel before an early one.
enum {
  ORDER_BARRIERS_MAX = 64, // later ones count as the last of these
  ACTOR_COPIES = BLOCK_THREADS_MAX,
  ACTOR_PRODUCTS = ACTOR_COPIES + ORDER_BARRIERS_MAX,
  ACTOR_CLUSTER = ACTOR_PRODUCTS + WARPGROUPS_MAX,
  ACTOR_CLUSTER_FENCED,
  ACTOR_EARLIER,
  ACTORS_MAX
};

void order_launch_begin(const launch *launch);
void order_block_begin(void);

// In an early launch the thread has waited for the end of the kernel before it. The second: memory has been copied, or
// the host or the stream has waited, and a launch behind that comes after all before it.
void order_earlier_waited(unsigned thread);
void order_launches_apart(void);

// In a launch with clusters: a cluster begins, before its blocks do; the block of that rank runs from now on.
void order_cluster_begin(void);
void order_block_enter(unsigned rank);
// The rank of the running block, 0 in an ordinary launch.
extern unsigned order_running_rank __attribute__((visibility("hidden")));
static inline unsigned order_rank(void) { return order_running_rank; }

// The barrier of the cluster: a thread arrives, all have, a thread has waited. A relaxed arrival orders only the accesses
// that a fence stands behind.
void order_cluster_arrive(unsigned thread, bool relaxed);
void order_cluster_release(void);
void order_cluster_waited(unsigned thread);
// Whether a relaxed arrival has come behind the access.
bool order_relaxed_since(const past_access *past);
// Whether the thread comes behind any phase of the barrier, so that the other blocks have begun.
bool order_knows_cluster(unsigned thread);
// Whether the thread that made the access, in the running cluster, has ended since. The second: in the running block, and
// a barrier has opened since to which it therefore did not come.
bool order_has_ended(const past_access *past);
bool order_missed_barrier(const past_access *past);

void order_block_barrier(void);
void order_thread_end(unsigned thread);
// `first` is the warp's first thread in the block.
void order_warp_barrier(unsigned first, unsigned lanes);
// An atomic operation of the thread begins. The second: it has been checked against the accesses before it, which it
// does not order itself, and from now on it may order those of its warp.
void order_atomic(unsigned thread, bool global);
void order_atomic_done(unsigned thread);
// A thread of the running block has called a fence for the device, or its atomic operation acquires.
void order_fence(unsigned thread);
void order_acquire(unsigned thread);
// Whether atomic operations would order the two, if the block that made the past access had called a fence before its
// one, or the running block one behind its own.
bool order_lacks_release(const past_access *past);
bool order_lacks_acquire(const past_access *past);

// A thread executes fence.proxy.async. Returns the stamp of that event. The second: whether such a fence stands between
// the past access of a thread of the running block and the present one of `thread`, which is ordered behind it.
uint32_t order_proxy_fence(unsigned thread);
bool order_proxy_fenced(const past_access *past, unsigned thread);

// The lanes have met in a warp function.
void order_warp_met(unsigned first, unsigned lanes);

// Partial barriers, which their address tells apart: a thread arrives, a
// phase is complete, and a thread has waited for the last complete phase.
void order_arrive(const void *barrier, unsigned thread);
void order_phase_complete(const void *barrier);
void order_waited(const void *barrier, unsigned thread);

// A barrier that no copy counts on: its phase is about to be complete. Returns the stamp of that event. The second:
// whether the thread has waited for it, or for a thread that has. Copies that have arrived are such events as well.
uint32_t order_phase_event(const void *barrier);
bool order_phase_known(const void *barrier, uint32_t event, unsigned thread);

// Whether the past access comes before the end of the barrier's running phase, for which all arrivals have come: whether a
// thread that has arrived, or has started a copy that counts, knows of it.
bool order_before_phase_end(const void *barrier, const past_access *past);

// The actor of a box copy that `thread` starts and whose bytes the barrier counts.
// The second: the bytes of a copy that the thread started at that stamp arrive, before the threads that wait for the phase
// continue.
unsigned order_copy_actor(const void *barrier, unsigned thread);
void order_copy_arrived(const void *barrier, unsigned thread, uint32_t started);

// Whether the past event comes before the end of the barrier's running phase because its thread then started a copy, for
// whose bytes a thread has waited that has arrived. Such bytes say when, but order no accesses of the thread.
bool order_carried_to_phase_end(const void *barrier, const past_access *past);

// The stamp of the last copy whose bytes have arrived at the barrier; 0: none. order_phase_known() says who knows of it.
uint32_t order_copies_arrived(const void *barrier);

// The actor of the warpgroup's products; their group of that number is closed; a thread has waited for it.
unsigned order_product_actor(unsigned warpgroup);
void order_group_closed(unsigned warpgroup, uint64_t group);
void order_group_waited(unsigned warpgroup, uint64_t group, unsigned thread);

// The thread that a report names for the actor.
unsigned order_thread_of(const past_access *past);

// The stamp of a present access.
uint32_t order_now(void);

// The stamp of an event of one thread: its accesses so far have this stamp at most, and later ones a higher one.
uint32_t order_new_event(void);

// Whether the past access is ordered before the present access of a thread of the running block.
bool order_before(const past_access *past, unsigned thread);
// For shared memory of a cluster: whether atomic operations of both warps order the two.
bool order_before_by_shared_atomics(const past_access *past, unsigned thread);

bool order_in_running_launch(uint32_t stamp);
bool order_in_running_cluster(uint32_t stamp); // or in the running block of an ordinary launch
bool order_in_running_block(const past_access *past);

// The number of the block that made the access: blocks of a launch run in order, and so do clusters.
uint64_t order_block_number(const past_access *past);

// Whether the counter is about to run out; order_restart then resets it.
bool order_exhausted(void);
void order_restart(void);

#endif
