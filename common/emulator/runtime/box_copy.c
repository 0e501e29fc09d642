#define _GNU_SOURCE
#include "box_copy.h"

#include "address_space.h"
#include "fault.h"
#include "hopper.h"
#include "map_place.h"
#include "mbarrier.h"
#include "memory.h"
#include "numeric/poison.h"
#include "observer.h"
#include "plural.h"
#include "swizzle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DESTINATION_ALIGNMENT = 128, MAP_ALIGNMENT = 64, COLUMN_ALIGNMENT = 16 };

// ---- Boxes --------------------------------------------------------------------------------------

// A row of the box, of its contiguous dimension. `source` is where its first element would be.
typedef struct {
  unsigned index; // of the row in the box
  uint64_t source;
  bool inside; // the row is in the tensor; its columns may not be
} box_row;

// The row with the next index; the first one, when called with an index of -1. False past the last.
static bool next_row(const box_copy *copy, box_row *row) {
  const tensor_map *map = &copy->map;
  unsigned rest = ++row->index;
  row->inside = true;
  row->source = map->address + (uint64_t)((int64_t)copy->coordinate[0] * map->element_bytes);
  for (unsigned i = 1; i < map->rank; i++) {
    const int64_t at = (int64_t)copy->coordinate[i] + rest % map->box[i];
    rest /= map->box[i];
    row->inside &= at >= 0 && at <= (int64_t)map->last[i];
    row->source += (uint64_t)(at * (int64_t)map->stride[i - 1]);
  }
  return rest == 0;
}

// The columns of a row that the tensor has, as bytes from the row's start: from `first` to before `end`.
typedef struct {
  unsigned first, end;
} column_range;

static column_range columns_inside(const box_copy *copy) {
  const int64_t columns = (int64_t)copy->map.last[0] + 1, box = copy->map.box[0];
  int64_t first = -(int64_t)copy->coordinate[0], end = columns - copy->coordinate[0];
  first = first < 0 ? 0 : first > box ? box : first;
  end = end < first ? first : end > box ? box : end;
  return (column_range){(unsigned)first * copy->map.element_bytes,
                        (unsigned)end * copy->map.element_bytes};
}

unsigned box_copy_source_bytes(const box_copy *copy) {
  const column_range columns = columns_inside(copy);
  unsigned bytes = 0;
  for (box_row row = {.index = -1u}; next_row(copy, &row);) {
    if (row.inside) bytes += columns.end - columns.first;
  }
  return bytes;
}

// ---- Starting a copy ----------------------------------------------------------------------------

static bool is_aligned(const CUtensorMap *map) {
#ifdef __aarch64__
  // Here g++ puts a parameter that is passed by value at a multiple of 16 bytes, whatever its type asks for, so the address
  // does not tell where a GPU has it.
  if (address_space_of(current_worker, map) == ADDRESS_LOCAL) return true;
#endif
  return (uintptr_t)map % MAP_ALIGNMENT == 0;
}

static tensor_map check_map(const CUtensorMap *encoded, unsigned rank, const emulator_site *site) {
  tensor_map map;
  if (!is_aligned(encoded)) {
    emulator_fault(cudaErrorMisalignedAddress,
                   "%s in %s:%d: a tensor map must be at a multiple of %d bytes", site->operation,
                   site->file, site->line, MAP_ALIGNMENT);
  }
  map_place_check(current_worker, encoded, site);
  current_worker->accessing = site;
  memcpy(&map, encoded, sizeof map);
  current_worker->accessing = NULL;
  if (map.mark != TENSOR_MAP_MARK) {
    emulator_fault(cudaErrorIllegalInstruction,
                   "%s in %s:%d: what it is given is no tensor map of cuTensorMapEncodeTiled",
                   site->operation, site->file, site->line);
  }
  if (map.rank != rank) {
    emulator_fault(cudaErrorIllegalInstruction,
                   "%s in %s:%d: the tensor has %u dimension%s, the instruction is for %u",
                   site->operation, site->file, site->line, map.rank, plural(map.rank), rank);
  }
  return map;
}

// An H200 raises this error at other columns; the documentation of the instruction does not mention it.
static void check_column(const box_copy *copy) {
  const int64_t first_byte = (int64_t)copy->coordinate[0] * copy->map.element_bytes;
  if (first_byte % COLUMN_ALIGNMENT != 0) {
    emulator_fault(cudaErrorIllegalInstruction,
                   "%s in %s:%d: the box begins at column %d, byte %" PRId64
                   " of a row: it must be a multiple of %d bytes",
                   copy->site.operation, copy->site.file, copy->site.line, copy->coordinate[0],
                   first_byte, COLUMN_ALIGNMENT);
  }
}

static void check_destination(const box_copy *copy) {
  worker *worker = current_worker;
  const emulator_site *site = &copy->site;
  const unsigned bytes = tensor_map_box_bytes(&copy->map);
  if (!address_in_shared(worker, copy->destination, bytes)) {
    emulator_fault(cudaErrorIllegalAddress,
                   "%s in %s:%d: shared memory does not hold the box of %u bytes that begins at %s",
                   site->operation, site->file, site->line, bytes,
                   address_describe(worker, copy->destination).text);
  }
  if (emulator_shared_address(copy->destination) % DESTINATION_ALIGNMENT != 0) {
    emulator_fault(
        cudaErrorMisalignedAddress,
        "%s in %s:%d: the box must begin at a multiple of %d bytes of shared memory, not "
        "at %s",
        site->operation, site->file, site->line, DESTINATION_ALIGNMENT,
        address_describe(worker, copy->destination).text);
  }
}

// The rows that the tensor has must be in device memory.
static void check_source(const box_copy *copy) {
  const column_range columns = columns_inside(copy);
  uint64_t low = UINT64_MAX, high = 0;
  for (box_row row = {.index = -1u}; next_row(copy, &row);) {
    if (!row.inside || columns.first == columns.end) continue;
    if (row.source + columns.first < low) low = row.source + columns.first;
    if (row.source + columns.end > high) high = row.source + columns.end;
  }
  if (low < high && !memory_on_device((const void *)low, high - low)) {
    char place[160];
    memory_describe(high - 1, place, sizeof place);
    emulator_fault(
        cudaErrorIllegalAddress,
        "%s in %s:%d: the tensor of the map is not in device memory: the box's last byte "
        "is %s",
        copy->site.operation, copy->site.file, copy->site.line, place);
  }
}

// Tells the observer which bytes the copy reads from now on, or has read.
static void announce(worker *worker, const box_copy *copy, bool done) {
#ifdef EMULATOR_OBSERVED
  const column_range columns = columns_inside(copy);
  const unsigned bytes = columns.end - columns.first;
  for (box_row row = {.index = -1u}; next_row(copy, &row);) {
    const char *source = (const char *)row.source + columns.first;
    if (row.inside && done) {
      observer_box_source_done(worker, copy, source, bytes);
    } else if (row.inside) {
      observer_library_access(worker, worker->running, source, bytes, OBSERVED_ASYNC_READ,
                              &copy->site);
    }
  }
#else
  (void)worker, (void)copy, (void)done;
#endif
}

static void add(box_copies *copies, const box_copy *copy) {
  if (copies->count == copies->room) {
    const unsigned room = copies->room > 0 ? 2 * copies->room : 32;
    box_copy *larger = realloc(copies->pending, room * sizeof *larger);
    if (larger == NULL) {
      emulator_fault(cudaErrorLaunchOutOfResources, "No memory for %u copies that are under way",
                     room);
    }
    copies->pending = larger;
    copies->room = room;
  }
  copies->pending[copies->count++] = *copy;
}

void emulator_copy_box(void *destination, const CUtensorMap *map, const int *coordinate,
                       unsigned rank, uint64_t *barrier, const emulator_site *site) {
  worker *worker = current_worker;
  hopper_check(worker, site);
  history_did(worker, site, barrier);
  box_copy copy = {.destination = destination,
                   .barrier = barrier,
                   .map = check_map(map, rank, site),
                   .thread = worker->running->index,
                   .code = __builtin_return_address(0),
                   .site = *site};
  memcpy(copy.coordinate, coordinate, rank * sizeof *coordinate);
  check_column(&copy);
  check_destination(&copy);
  copy.shared_address = emulator_shared_address(destination);
  mbarrier_read(barrier, site);
  check_source(&copy);
  announce(worker, &copy, false);
  observer_box_start(worker, &copy);
  poison_fill(destination, tensor_map_box_bytes(&copy.map), POISON_COPY);
  add(&worker->box_copies, &copy);
}

// ---- Its end ------------------------------------------------------------------------------------

// Writes a row to its swizzled place, piece by piece, with zeros where the tensor has no elements.
static void write_row(const box_copy *copy, const box_row *row, column_range columns) {
  const unsigned row_bytes = tensor_map_row_bytes(&copy->map);
  char bytes[256 * sizeof(double)];
  if (!row->inside) columns.end = columns.first;
  memset(bytes, 0, columns.first);
  memcpy(bytes + columns.first, (const char *)row->source + columns.first,
         columns.end - columns.first);
  memset(bytes + columns.end, 0, row_bytes - columns.end);
  const uint32_t start = copy->shared_address + row->index * row_bytes;
  for (uint32_t at = 0; at < row_bytes; at += SWIZZLE_PIECE) {
    const uint32_t place = swizzled_address(start + at, copy->map.span) - copy->shared_address;
    memcpy(copy->destination + place, bytes + at, SWIZZLE_PIECE);
  }
}

// True when the copy's bytes were the last that its barrier waited for.
static bool perform(worker *worker, const box_copy *copy) {
  const column_range columns = columns_inside(copy);
  announce(worker, copy, true);
  observer_box_done(worker, copy);
  for (box_row row = {.index = -1u}; next_row(copy, &row);) {
    write_row(copy, &row, columns);
  }
  worker->counts.async_copy_bytes += box_copy_source_bytes(copy);
  return mbarrier_bytes_arrived(worker, copy->barrier, tensor_map_box_bytes(&copy->map),
                                &copy->site);
}

// A phase that has ended without a copy that was started for it is one of too few announced bytes: on a GPU those of all
// copies count as they come, so that the phase may end while each of them is half there. A copy for the next phase is
// started by a thread that knows the end of this one.
static void refuse_unannounced(const worker *worker, const box_copy *copy) {
  emulator_fault(
      cudaErrorLaunchFailure,
      "%s in %s:%d: the phase of the barrier %s is over, and the %u bytes of this copy were "
      "under way before: announce the bytes of all copies that are started in a phase",
      copy->site.operation, copy->site.file, copy->site.line,
      mbarrier_short_name(worker, copy->barrier).text, tensor_map_box_bytes(&copy->map));
}

bool box_copies_arrive(worker *worker) {
  box_copies *copies = &worker->box_copies;
  unsigned first = 0;
  while (first < copies->count && !mbarrier_awaited(worker, copies->pending[first].barrier))
    first++;
  if (first == copies->count) return false;
  uint64_t *barrier = copies->pending[first].barrier;
  bool complete = false;
  unsigned kept = first;
  for (unsigned i = first; i < copies->count; i++) {
    const box_copy *copy = &copies->pending[i];
    if (copy->barrier != barrier) {
      copies->pending[kept++] = *copy;
    } else if (complete) {
      refuse_unannounced(worker, copy);
    } else {
      complete = perform(worker, copy);
    }
  }
  copies->count = kept;
  return true;
}

void box_copies_begin(worker *worker) { worker->box_copies.count = 0; }
