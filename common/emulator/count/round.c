#include "round.h"

#include <stdlib.h>
#include <string.h>

// This is enough for almost any basic block; longer ones take more memory for as long as their round takes.
enum { OPEN_FEW = 256 };

typedef struct {
  origin where;
  space space;
  memory_request request;
} open_request;

static _Thread_local struct {
  open_request few[OPEN_FEW];
  open_request *many; // in place of `few`; NULL if there is no need
  unsigned many_room;
  unsigned count;
  unsigned expected; // the lane's next access is probably the one behind its last
  unsigned lane;
} current;

static open_request *all_open(void) { return current.many != NULL ? current.many : current.few; }

// Without memory for more the requests so far are counted, as if the lanes that are still to come had no part in them.
static void make_room(void) {
  if (current.count < (current.many != NULL ? current.many_room : OPEN_FEW)) return;
  const unsigned room = 2 * current.count;
  open_request *larger = malloc(room * sizeof *larger);
  if (larger == NULL) {
    round_end();
    return;
  }
  memcpy(larger, all_open(), current.count * sizeof *larger);
  free(current.many);
  current.many = larger;
  current.many_room = room;
}

void round_lane(unsigned lane) {
  current.lane = lane;
  current.expected = 0;
}

static bool belongs(const open_request *open, origin where, space space, bool store,
                    unsigned bytes) {
  return same_origin(open->where, where) && open->space == space && open->request.store == store &&
         open->request.bytes == bytes && (open->request.lanes >> current.lane & 1) == 0;
}

static open_request *find(origin where, space space, bool store, unsigned bytes) {
  open_request *all = all_open();
  for (unsigned i = current.expected; i < current.count; i++) {
    if (belongs(&all[i], where, space, store, bytes)) return &all[i];
  }
  for (unsigned i = 0; i < current.expected; i++) {
    if (belongs(&all[i], where, space, store, bytes)) return &all[i];
  }
  make_room();
  open_request *open = &all_open()[current.count++];
  open->where = where;
  open->space = space;
  open->request.lanes = 0;
  open->request.bytes = bytes;
  open->request.store = store;
  return open;
}

void round_access(origin where, space space, bool store, uintptr_t address, unsigned bytes) {
  open_request *open = find(where, space, store, bytes);
  open->request.lanes |= 1u << current.lane;
  open->request.address[current.lane] = address;
  current.expected = (unsigned)(open - all_open()) + 1;
}

void round_request(origin where, space space, const memory_request *request) {
  static const count_column requests[2][2] = {
      [SPACE_GLOBAL] = {COUNT_GLOBAL_LOAD_REQUESTS, COUNT_GLOBAL_STORE_REQUESTS},
      [SPACE_SHARED] = {COUNT_SHARED_LOAD_REQUESTS, COUNT_SHARED_STORE_REQUESTS}};
  const count_column column = requests[space][request->store];
  count_values *counts = tally_at(where);
  counts->value[column]++;
  counts->value[column + 1] +=
      space == SPACE_GLOBAL ? memory_request_sectors(request) : memory_request_wavefronts(request);
}

void round_end(void) {
  const open_request *all = all_open();
  for (unsigned i = 0; i < current.count; i++) {
    round_request(all[i].where, all[i].space, &all[i].request);
  }
  free(current.many);
  current.many = NULL;
  current.count = 0;
  current.expected = 0;
}
