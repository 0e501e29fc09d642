// The memory requests of one round, in which some lanes of a warp run one basic block together. The
// lanes run it one after the other; their accesses from one place in the code form one request.
#ifndef ROUND_H
#define ROUND_H

#include "requests/memory_request.h"
#include "space.h"
#include "tally.h"

// A lane's turn in the round begins.
void round_lane(unsigned lane);

// The lane whose turn it is accesses memory. A place with a
// source line may have one access of each space and direction.
void round_access(origin where, space space, bool store, uintptr_t address, unsigned bytes);

// All lanes have had their turn: adds the requests to the tally.
void round_end(void);

// Adds one complete request to the tally.
void round_request(origin where, space space, const memory_request *request);

#endif
