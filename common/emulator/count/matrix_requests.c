#include "matrix_requests.h"

#include "fragment_layout.h"
#include "gpu.h"

enum { K = 16, BLOCK = 8, ROW_BYTES = 16 }; // BLOCK x BLOCK elements of 2 bytes, ROW_BYTES a row

// ---- A and B ------------------------------------------------------------------------------------

// The address of row `row` of 8x8 matrix `block`, counted along memory.
static uintptr_t row_address(const matrix_memory_call *call, unsigned block, unsigned row) {
  const unsigned outer = call->type->use == EMULATOR_MATRIX_A ? call->type->m : call->type->n;
  const bool outer_is_line = (call->type->use == EMULATOR_MATRIX_A) != call->column_major;
  const unsigned blocks_in_line = (outer_is_line ? K : outer) / BLOCK;
  const uintptr_t line = block / blocks_in_line * BLOCK + row;
  return (uintptr_t)call->memory + 2 * line * call->leading_dimension +
         block % blocks_in_line * ROW_BYTES;
}

static unsigned operand_blocks(const emulator_fragment_type *type) {
  return (type->use == EMULATOR_MATRIX_A ? type->m : type->n) / BLOCK * (K / BLOCK);
}

// ldmatrix: lane i has the address of row i % 8 of the request's matrix i / 8.
static unsigned load_matrices(const matrix_memory_call *call, memory_request *requests) {
  const unsigned rows = operand_blocks(call->type) * BLOCK;
  for (unsigned row = 0; row < rows; row++) {
    memory_request *request = &requests[row / GPU_WARP_LANES];
    const unsigned lane = row % GPU_WARP_LANES;
    if (lane == 0) *request = (memory_request){.bytes = ROW_BYTES};
    request->lanes |= 1u << lane;
    request->address[lane] = row_address(call, row / BLOCK, row % BLOCK);
  }
  return (rows + GPU_WARP_LANES - 1) / GPU_WARP_LANES;
}

// Four lanes share a row.
static unsigned load_words(const matrix_memory_call *call, memory_request *requests) {
  const unsigned blocks = operand_blocks(call->type);
  for (unsigned block = 0; block < blocks; block++) {
    requests[block] = (memory_request){.lanes = ~0u, .bytes = 4};
    for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
      requests[block].address[lane] = row_address(call, block, lane / 4) + lane % 4 * 4;
    }
  }
  return blocks;
}

// ---- Accumulators -------------------------------------------------------------------------------

static bool same_addresses(const memory_request *a, const memory_request *b) {
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (a->address[lane] != b->address[lane]) return false;
  }
  return true;
}

// Returns how many requests there are with the one behind them, unless it repeats one.
static unsigned without_repetition(const memory_request *requests, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (same_addresses(&requests[i], &requests[count])) return count;
  }
  return count + 1;
}

static unsigned accumulator(const matrix_memory_call *call, memory_request *requests) {
  const fragment_layout layout = fragment_layout_of(call->type);
  const unsigned bytes = matrix_element_bytes(call->type);
  unsigned count = 0;
  for (unsigned pair = 0; pair < layout.pairs; pair++) {
    const fragment_place first =
        fragment_place_of(&layout, 0, pair, call->leading_dimension, call->column_major);
    const bool neighbours = first.step == 1;
    for (unsigned element = 0; element < (neighbours ? 1u : 2u); element++) {
      memory_request *request = &requests[count];
      *request = (memory_request){
          .lanes = ~0u, .bytes = neighbours ? 2 * bytes : bytes, .store = call->store};
      for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
        const fragment_place place =
            fragment_place_of(&layout, lane, pair, call->leading_dimension, call->column_major);
        request->address[lane] =
            (uintptr_t)call->memory + (place.first + element * place.step) * bytes;
      }
      count = without_repetition(requests, count);
    }
  }
  return count;
}

unsigned matrix_requests(const matrix_memory_call *call, bool shared,
                         memory_request requests[MATRIX_REQUESTS_MAX]) {
  if (call->type->use == EMULATOR_ACCUMULATOR) return accumulator(call, requests);
  if (shared && call->type->element == EMULATOR_FP16) return load_matrices(call, requests);
  return load_words(call, requests);
}
