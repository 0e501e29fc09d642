// Compares sectors and wavefronts with the values that the CUDA guides give for well-known patterns.
#include "emulator/requests/memory_request.h"

#include <criterion/criterion.h>

// A request of all lanes, in which lane i accesses start + i * stride.
static memory_request strided(uintptr_t start, unsigned stride, unsigned bytes) {
  memory_request request = {.lanes = ~0u, .bytes = bytes};
  for (unsigned lane = 0; lane < REQUEST_LANES; lane++) {
    request.address[lane] = start + (uintptr_t)lane * stride;
  }
  return request;
}

static memory_request stored(memory_request request) {
  request.store = true;
  return request;
}

static memory_request only(memory_request request, uint32_t lanes) {
  request.lanes = lanes;
  return request;
}

Test(memory_request, sectors) {
  const struct {
    memory_request request;
    unsigned sectors;
  } cases[] = {
      {strided(0x1000, 4, 4), 4},    // 128 bytes in a row
      {strided(0x1004, 4, 4), 5},    // the same, not at a sector's start
      {strided(0x1000, 8, 4), 8},    // every other float
      {strided(0x1000, 16, 4), 16},  // every fourth
      {strided(0x1000, 32, 4), 32},  // every eighth: a sector each
      {strided(0x1000, 128, 4), 32}, // a column of a matrix
      {strided(0x1000, 0, 4), 1},    // all the same
      {strided(0x1000, 2, 2), 2},    // half
      {strided(0x1000, 16, 16), 16}, // float4
      {strided(0x101e, 64, 4), 64},  // each lane in two sectors
      {only(strided(0x1000, 4, 4), 0x000000ff), 1},
      {only(strided(0x1000, 4, 4), 0x00000101), 2},
      {only(strided(0x1000, 4, 4), 0), 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cr_expect_eq(memory_request_sectors(&cases[i].request), cases[i].sectors,
                 "case %zu: %u sectors, not %u", i, memory_request_sectors(&cases[i].request),
                 cases[i].sectors);
  }
}

Test(memory_request, sectors_of_lanes_out_of_order) {
  memory_request request = strided(0x1000, 4, 4);
  for (unsigned lane = 0; lane < REQUEST_LANES; lane++) {
    request.address[lane] = 0x1000 + lane * 13 % 32 * 4;
  }
  cr_expect_eq(memory_request_sectors(&request), 4);
}

Test(memory_request, wavefronts) {
  const struct {
    memory_request request;
    unsigned wavefronts;
  } cases[] = {
      {strided(0x1000, 4, 4), 1},
      {strided(0x1034, 4, 4), 1},         // wherever it starts
      {strided(0x1000, 8, 4), 2},         // two-way conflict
      {strided(0x1000, 16, 4), 4},        // ...
      {strided(0x1000, 32, 4), 8},        //
      {strided(0x1000, 128, 4), 32},      // a column of 32 floats: all in one bank
      {strided(0x1000, 132, 4), 1},       // of 33 floats: all in different ones
      {strided(0x1000, 0, 4), 1},         // broadcast
      {strided(0x1000, 2, 2), 1},         // two lanes a word
      {strided(0x1000, 64, 2), 16},       // a column of 32 halfs
      {strided(0x1000, 66, 2), 1},        // of 33: all in different banks
      {strided(0x1000, 8, 8), 2},         // half warps
      {strided(0x1000, 16, 16), 4},       // quarter warps
      {strided(0x1000, 144, 16), 4},      // rows of 72 halfs: 8 rows in 8 groups of banks
      {strided(0x1000, 128, 16), 32},     // rows of 64: all in the same
      {strided(0x1000, 0, 8), 1},         // broadcast: both halves at once
      {strided(0x1000, 0, 16), 2},        // and 16 bytes in pairs of quarters
      {stored(strided(0x1000, 0, 8)), 2}, // but stores not
      {stored(strided(0x1000, 0, 16)), 4},
      {only(strided(0x1000, 128, 4), 0x7), 3},
      {only(strided(0x1000, 16, 16), 0x000000ff), 1}, // one quarter
      {only(strided(0x1000, 16, 16), 0), 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cr_expect_eq(memory_request_wavefronts(&cases[i].request), cases[i].wavefronts,
                 "case %zu: %u wavefronts, not %u", i, memory_request_wavefronts(&cases[i].request),
                 cases[i].wavefronts);
  }
}

// Lane i accesses start + i / 2 * bytes: pairs share, so half as many accesses, unless banks collide.
Test(memory_request, wavefronts_of_shared_addresses) {
  memory_request pairs = strided(0x1000, 0, 16);
  memory_request apart = pairs, far = pairs, colliding = pairs;
  for (unsigned lane = 0; lane < REQUEST_LANES; lane++) {
    pairs.address[lane] += lane / 2 * 16;                  // neighbours
    apart.address[lane] += (lane / 4 * 2 + lane % 2) * 16; // two lanes apart
    far.address[lane] += lane % 16 * 16;                   // sixteen apart: not served at once
    colliding.address[lane] += lane / 2 * 128;             // all in the same banks
  }
  cr_expect_eq(memory_request_wavefronts(&pairs), 2);
  cr_expect_eq(memory_request_wavefronts(&apart), 2);
  cr_expect_eq(memory_request_wavefronts(&far), 4);
  cr_expect_eq(memory_request_wavefronts(&colliding), 16);
}

// These patterns keep groups of lanes from being served at once.
Test(memory_request, groups_stay_apart) {
  memory_request four_apart = strided(0x1000, 0, 8);
  for (unsigned lane = 0; lane < REQUEST_LANES; lane++) {
    four_apart.address[lane] += (lane / 8 * 4 + lane % 4) * 8; // no bank twice, but not neighbours
  }
  cr_expect_eq(memory_request_wavefronts(&four_apart), 2);

  // Pairs of neighbours; in each quarter two want the same banks, but other ones than the next's.
  memory_request conflicts = strided(0x1000, 0, 16);
  const unsigned places[8] = {0, 128, 16, 32, 64, 64 + 128, 80, 96};
  for (unsigned lane = 0; lane < REQUEST_LANES; lane++) {
    conflicts.address[lane] += lane / 16 * 256 + places[lane % 16 / 2];
  }
  cr_expect_eq(memory_request_wavefronts(&conflicts), 8);
}
