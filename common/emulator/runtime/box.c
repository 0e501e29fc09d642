// Boxes of tensors: where their rows are, and whether they may be copied.
#define _GNU_SOURCE
#include "box.h"

#include "address_space.h"
#include "fault.h"
#include "hopper.h"
#include "map_place.h"
#include "memory.h"
#include "plural.h"
#include "swizzle.h"

#include <inttypes.h>
#include <string.h>

enum { SHARED_ALIGNMENT = 128, MAP_ALIGNMENT = 64, COLUMN_ALIGNMENT = 16 };

// ---- Boxes --------------------------------------------------------------------------------------

bool box_next_row(const box_copy *copy, box_row *row) {
  const tensor_map *map = &copy->map;
  unsigned rest = ++row->index;
  row->inside = true;
  row->place = map->address + (uint64_t)((int64_t)copy->coordinate[0] * map->element_bytes);
  for (unsigned i = 1; i < map->rank; i++) {
    const int64_t at = (int64_t)copy->coordinate[i] + rest % map->box[i];
    rest /= map->box[i];
    row->inside &= at >= 0 && at <= (int64_t)map->last[i];
    row->place += (uint64_t)(at * (int64_t)map->stride[i - 1]);
  }
  return rest == 0;
}

column_range box_columns_inside(const box_copy *copy) {
  const int64_t columns = (int64_t)copy->map.last[0] + 1, box = copy->map.box[0];
  int64_t first = -(int64_t)copy->coordinate[0], end = columns - copy->coordinate[0];
  first = first < 0 ? 0 : first > box ? box : first;
  end = end < first ? first : end > box ? box : end;
  return (column_range){(unsigned)first * copy->map.element_bytes,
                        (unsigned)end * copy->map.element_bytes};
}

unsigned box_tensor_bytes(const box_copy *copy) {
  const column_range columns = box_columns_inside(copy);
  unsigned bytes = 0;
  for (box_row row = {.index = -1u}; box_next_row(copy, &row);) {
    if (row.inside) bytes += columns.end - columns.first;
  }
  return bytes;
}

// ---- Checks ---------------------------------------------------------------------------------------

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

static void check_shared(const box_copy *copy, unsigned alignment) {
  worker *worker = current_worker;
  const emulator_site *site = &copy->site;
  const unsigned bytes = tensor_map_box_bytes(&copy->map);
  if (!address_in_shared(worker, copy->shared, bytes)) {
    emulator_fault(cudaErrorIllegalAddress,
                   "%s in %s:%d: shared memory does not hold the box of %u bytes that begins at %s",
                   site->operation, site->file, site->line, bytes,
                   address_describe(worker, copy->shared).text);
  }
  if (emulator_shared_address(copy->shared) % alignment != 0) {
    emulator_fault(
        cudaErrorMisalignedAddress,
        "%s in %s:%d: the box must begin at a multiple of %u bytes of shared memory, not "
        "at %s",
        site->operation, site->file, site->line, alignment,
        address_describe(worker, copy->shared).text);
  }
}

void box_check_tensor(const box_copy *copy) {
  const column_range columns = box_columns_inside(copy);
  uint64_t low = UINT64_MAX, high = 0;
  for (box_row row = {.index = -1u}; box_next_row(copy, &row);) {
    if (!row.inside || columns.first == columns.end) continue;
    if (row.place + columns.first < low) low = row.place + columns.first;
    if (row.place + columns.end > high) high = row.place + columns.end;
  }
  if (low < high && !memory_on_device((const void *)low, high - low)) {
    char place[160];
    memory_describe(high - 1, place, sizeof place);
    emulator_fault(cudaErrorIllegalAddress, "%s in %s:%d: %s is %s", copy->site.operation,
                   copy->site.file, copy->site.line,
                   copy->plain
                       ? "the bytes are not in device memory: the last one"
                       : "the tensor of the map is not in device memory: the box's last byte",
                   place);
  }
}

box_copy box_begin(void *shared, const CUtensorMap *map, const int *coordinate, unsigned rank,
                   const emulator_site *site) {
  box_copy copy = {.shared = shared,
                   .map = check_map(map, rank, site),
                   .thread = current_worker->running->index,
                   .site = *site};
  memcpy(copy.coordinate, coordinate, rank * sizeof *coordinate);
  check_column(&copy);
  check_shared(&copy, SHARED_ALIGNMENT);
  copy.shared_address = emulator_shared_address(shared);
  return copy;
}

box_copy box_of_bytes(void *shared, const void *global, size_t bytes, const emulator_site *site) {
  enum { ROW = SWIZZLE_PIECE, ROWS_MAX = UINT16_MAX };
  if (bytes == 0 || bytes % ROW != 0 || bytes / ROW > ROWS_MAX || (uintptr_t)global % ROW != 0) {
    emulator_fault(cudaErrorMisalignedAddress,
                   "%s in %s:%d: a copy of %zu bytes with %p in global memory: both must be "
                   "multiples of %d, and there must be some bytes",
                   site->operation, site->file, site->line, bytes, global, ROW);
  }
  const uint16_t rows = (uint16_t)(bytes / ROW);
  box_copy copy = {.shared = shared,
                   .map = {.mark = TENSOR_MAP_MARK,
                           .address = (uintptr_t)global,
                           .stride = {ROW},
                           .last = {ROW - 1, rows - 1u},
                           .box = {ROW, rows},
                           .rank = 2,
                           .element_bytes = 1,
                           .span = SWIZZLE_PIECE},
                   .plain = true,
                   .thread = current_worker->running->index,
                   .site = *site};
  check_shared(&copy, ROW);
  copy.shared_address = emulator_shared_address(shared);
  return copy;
}
