#include "round.h"

// This is enough for almost any basic block; longer ones are counted in portions.
enum { OPEN_MAX = 256 };

typedef struct {
  origin where;
  space space;
  memory_request request;
} open_request;

static _Thread_local struct {
  open_request open[OPEN_MAX];
  unsigned count;
  unsigned expected; // the lane's next access is probably the one behind its last
  unsigned lane;
} current;

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
  for (unsigned i = current.expected; i < current.count; i++) {
    if (belongs(&current.open[i], where, space, store, bytes)) return &current.open[i];
  }
  for (unsigned i = 0; i < current.expected; i++) {
    if (belongs(&current.open[i], where, space, store, bytes)) return &current.open[i];
  }
  if (current.count == OPEN_MAX) round_end();
  open_request *open = &current.open[current.count++];
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
  current.expected = (unsigned)(open - current.open) + 1;
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
  for (unsigned i = 0; i < current.count; i++) {
    round_request(current.open[i].where, current.open[i].space, &current.open[i].request);
  }
  current.count = 0;
  current.expected = 0;
}
