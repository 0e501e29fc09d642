#define _GNU_SOURCE
#include "guesses.h"

#include <string.h>

enum { HELD_MAX = 4 }; // of a thread; an older one is reported

typedef struct {
  finding found;
  uintptr_t address; // of the read, and its size
  size_t bytes;
} held_race;

typedef struct {
  unsigned count;
  held_race races[HELD_MAX]; // the oldest is the first
} held_races;

static held_races held[CLUSTER_BLOCKS_MAX][BLOCK_THREADS_MAX];
static unsigned held_count; // of all threads

bool guesses_may_be(const checked_access *access) {
  return access->kind == OBSERVED_READ && access->actor == access->thread &&
         (access->bytes == 4 || access->bytes == 8);
}

bool guesses_is_open(const past_access *past) {
  return past->guess == GUESS_OPEN && order_in_running_cluster(past->stamp) &&
         !order_has_ended(past);
}

void guesses_settle_read(const checked_access *access, past_access *read) {
  if (!order_in_running_block(read)) return;
  const bool compared = access->kind == OBSERVED_COMPARE && access->bytes == read->bytes;
  read->guess = compared ? GUESS_MADE : GUESS_NONE;
}

// ---- Races that are held back -------------------------------------------------------------------

static void drop(held_races *of, unsigned index) {
  of->count--;
  held_count--;
  memmove(&of->races[index], &of->races[index + 1], (of->count - index) * sizeof *of->races);
}

static void report(held_races *of, unsigned index, finding_describe describe) {
  held_race *race = &of->races[index];
  findings_add(&race->found, describe, (const void *)race->address);
  drop(of, index);
}

void guesses_settle(const checked_access *access) {
  if (held_count == 0) return;
  held_races *of = &held[order_rank()][access->thread];
  for (unsigned i = of->count; i-- > 0;) {
    const held_race *race = &of->races[i];
    if (access->address >= race->address + race->bytes ||
        race->address >= access->address + access->bytes)
      continue;
    if (access->kind == OBSERVED_COMPARE && access->bytes == race->bytes) {
      drop(of, i);
    } else {
      report(of, i, access_describe);
    }
  }
}

static void hold(held_races *of, const held_race *race) {
  for (unsigned i = 0; i < of->count; i++) {
    const held_race *other = &of->races[i];
    if (other->address == race->address &&
        other->found.party[0].place == race->found.party[0].place &&
        other->found.party[1].place == race->found.party[1].place)
      return;
  }
  if (of->count == HELD_MAX) report(of, 0, access_describe);
  of->races[of->count++] = *race;
  held_count++;
}

bool guesses_hold(const finding *found, const checked_access *access, const past_access *past,
                  uintptr_t address) {
  held_race race = {.found = *found, .address = access->address, .bytes = access->bytes};
  if (guesses_may_be(access) && access_is_atomic(past->kind)) {
    hold(&held[order_rank()][access->thread], &race);
    return true;
  }
  if (!access_is_atomic(access->kind) || !guesses_is_open(past)) return false;
  race.bytes = past->bytes;
  race.address = address / race.bytes * race.bytes;
  hold(&held[past->rank][past->actor], &race);
  return true;
}

void guesses_thread_end(unsigned thread) {
  held_races *of = &held[order_rank()][thread];
  while (of->count > 0) report(of, 0, access_describe);
}

// Threads that a fault has stopped have not exited. Where their memory lies can no longer be told.
void guesses_launch_end(void) {
  for (unsigned rank = 0; rank < CLUSTER_BLOCKS_MAX && held_count > 0; rank++) {
    for (unsigned thread = 0; thread < BLOCK_THREADS_MAX; thread++) {
      held_races *of = &held[rank][thread];
      while (of->count > 0) report(of, 0, NULL);
    }
  }
}
