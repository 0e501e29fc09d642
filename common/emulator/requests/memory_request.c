#include "memory_request.h"

#include <stddef.h>

static bool has(const memory_request *request, unsigned lane) { return request->lanes >> lane & 1; }

// ---- Global memory ------------------------------------------------------------------------------

unsigned memory_request_sectors(const memory_request *request) {
  uintptr_t sectors[2 * REQUEST_LANES]; // a misaligned access may be in two
  unsigned count = 0;
  for (unsigned lane = 0; lane < REQUEST_LANES; lane++) {
    if (!has(request, lane)) continue;
    const uintptr_t last = (request->address[lane] + request->bytes - 1) / SECTOR_BYTES;
    for (uintptr_t sector = request->address[lane] / SECTOR_BYTES; sector <= last; sector++) {
      unsigned i = count; // it starts at the newest, because neighbours mostly share one
      while (i > 0 && sectors[i - 1] != sector) i--;
      if (i == 0) sectors[count++] = sector;
    }
  }
  return count;
}

// ---- Shared memory ------------------------------------------------------------------------------

// The largest number of different words that lanes `first` to `first
// + lanes - 1` want of one bank; 0 when none of them takes part.
static unsigned busiest_bank(const memory_request *request, unsigned first, unsigned lanes) {
  enum { WORDS_MAX = REQUEST_LANES * 4 + REQUEST_LANES };
  struct {
    uintptr_t word;
    int next; // the next word of the same bank; -1 ends
  } words[WORDS_MAX];
  int head[SHARED_BANKS];
  unsigned depth[SHARED_BANKS] = {0};
  int count = 0;
  unsigned most = 0;
  for (unsigned bank = 0; bank < SHARED_BANKS; bank++) head[bank] = -1;
  for (unsigned lane = first; lane < first + lanes; lane++) {
    if (!has(request, lane)) continue;
    const uintptr_t last = (request->address[lane] + request->bytes - 1) / SHARED_BANK_BYTES;
    for (uintptr_t word = request->address[lane] / SHARED_BANK_BYTES; word <= last; word++) {
      const unsigned bank = (unsigned)(word % SHARED_BANKS);
      int same = head[bank];
      while (same >= 0 && words[same].word != word) same = words[same].next;
      if (same >= 0) continue;
      words[count].word = word;
      words[count].next = head[bank];
      head[bank] = count++;
      if (++depth[bank] > most) most = depth[bank];
    }
  }
  return most;
}

static unsigned sum_of_groups(const memory_request *request, unsigned lanes) {
  unsigned sum = 0;
  for (unsigned first = 0; first < REQUEST_LANES; first += lanes) {
    sum += busiest_bank(request, first, lanes);
  }
  return sum;
}

static bool share(const memory_request *request, unsigned distance) {
  for (unsigned lane = 0; lane < REQUEST_LANES; lane++) {
    const unsigned other = lane ^ distance;
    if (has(request, lane) && has(request, other) &&
        request->address[lane] != request->address[other]) {
      return false;
    }
  }
  return true;
}

// This was measured by several people on GPUs from Volta to Blackwell, and by `make calibrate`
// here. If lanes that are one or two apart read the same address, two groups of lanes are
// served at once, provided that no bank is then needed twice. This holds for loads only.
static bool groups_merge(const memory_request *request, unsigned lanes) {
  if (request->store || (!share(request, 1) && !share(request, 2))) return false;
  for (unsigned first = 0; first < REQUEST_LANES; first += 2 * lanes) {
    if (busiest_bank(request, first, 2 * lanes) > 1) return false;
  }
  return true;
}

unsigned memory_request_wavefronts(const memory_request *request) {
  if (request->bytes <= SHARED_BANK_BYTES) return busiest_bank(request, 0, REQUEST_LANES);
  const unsigned lanes = REQUEST_LANES * SHARED_BANK_BYTES / request->bytes;
  return sum_of_groups(request, groups_merge(request, lanes) ? 2 * lanes : lanes);
}
