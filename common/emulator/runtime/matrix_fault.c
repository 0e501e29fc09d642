#define _GNU_SOURCE
#include "matrix_fault.h"

#include "address_space.h"
#include "fault.h"

#include <string.h>

enum { POINTER_ALIGNMENT = 32, STRIDE_ALIGNMENT = 16 }; // bytes

// "by warp 1 (threads 32-63) in block (0,0,0)"
static void report_warp(const worker *worker) {
  const unsigned warp = worker->running->index / GPU_WARP_LANES, first = warp * GPU_WARP_LANES;
  const unsigned left = worker->thread_count - first;
  const unsigned last = first + (left < GPU_WARP_LANES ? left : GPU_WARP_LANES) - 1;
  const uint3 block = worker->block.block_index;
  fault_report_line("by warp %u (threads %u-%u) in block (%u,%u,%u)", warp, first, last, block.x,
                    block.y, block.z);
}

static void report_place(const worker *worker, const emulator_site *site) {
  fault_report_line("at %s in %s:%d", worker->launch->request->name, site->file, site->line);
  fault_report_source(site->file, site->line);
}

// ---- Lanes --------------------------------------------------------------------------------------

static void missing_lanes(const emulator_site *site, unsigned lanes) {
  worker *worker = current_worker;
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    fault_report_title("%s needs all 32 lanes of the warp, but the lanes 0x%08x do not exist or "
                       "have exited",
                       site->operation, ~lanes);
    report_place(worker, site);
    report_warp(worker);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

static void different_places(const emulator_site *first, const emulator_site *other,
                             unsigned lane) {
  worker *worker = current_worker;
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    fault_report_title("Divergent threads in a warp: the lanes must come to the same %s",
                       first->operation);
    fault_report_line("lane 0 comes to the one in %s:%d", first->file, first->line);
    fault_report_line("lane %u comes to the one in %s:%d", lane, other->file, other->line);
    report_warp(worker);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

static bool same_file(const char *a, const char *b) { return a == b || strcmp(a, b) == 0; }

void matrix_check_warp(void *const operand[32], unsigned lanes) {
  const emulator_site *first = *(const emulator_site **)operand[__builtin_ctz(lanes)];
  if (lanes != ~0u) missing_lanes(first, lanes);
  for (unsigned lane = 1; lane < GPU_WARP_LANES; lane++) {
    const emulator_site *other = *(const emulator_site **)operand[lane];
    if (other->line != first->line || !same_file(other->file, first->file)) {
      different_places(first, other, lane);
    }
  }
}

// ---- Memory -------------------------------------------------------------------------------------

static void different_arguments(const matrix_memory_call *first, const matrix_memory_call *other,
                                unsigned lane) {
  worker *worker = current_worker;
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    fault_report_title("%s must be given the same matrix by all lanes of a warp",
                       first->site->operation);
    report_place(worker, first->site);
    if (other->memory != first->memory) {
      fault_report_line("lane 0 gives %s", address_describe(worker, first->memory).text);
      fault_report_line("lane %u gives %s", lane, address_describe(worker, other->memory).text);
    } else if (other->leading_dimension != first->leading_dimension) {
      fault_report_line("lane 0 gives the leading dimension %u, lane %u gives %u",
                        first->leading_dimension, lane, other->leading_dimension);
    } else {
      fault_report_line("lane 0 and lane %u give different layouts", lane);
    }
    report_warp(worker);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

static const char *line_name(const matrix_memory_call *call) {
  return call->column_major ? "column" : "row";
}

static void report_hint(const matrix_memory_call *call) {
  const unsigned bytes = matrix_element_bytes(call->type);
  const unsigned multiple = STRIDE_ALIGNMENT / bytes;
  const unsigned stride = call->leading_dimension * bytes;
  if (stride % STRIDE_ALIGNMENT != 0) {
    fault_report_line("hint: ldm is %u: %s stride is %u bytes; pad by %u elements, not %u",
                      call->leading_dimension, line_name(call), stride, multiple,
                      call->leading_dimension % multiple);
  } else if (stride % POINTER_ALIGNMENT != 0) {
    fault_report_line("hint: ldm is %u: %s stride is %u bytes; only every second %s can be the "
                      "first of a matrix",
                      call->leading_dimension, line_name(call), stride, line_name(call));
  }
}

// Whether the pointer would be right if dynamic shared memory were better aligned.
static bool begins_too_low(const worker *worker, const void *memory) {
  const char *base = worker->block.dynamic_shared;
  return address_space_of(worker, memory) == ADDRESS_DYNAMIC_SHARED &&
         (uintptr_t)base % POINTER_ALIGNMENT != 0 &&
         (size_t)((const char *)memory - base) % POINTER_ALIGNMENT == 0;
}

static void misaligned(const matrix_memory_call *call) {
  worker *worker = current_worker;
  if (fault_report_begin(worker, cudaErrorMisalignedAddress)) {
    const address_space space = address_space_of(worker, call->memory);
    fault_report_title("Invalid %s %s by %s: %s", address_space_name(space),
                       call->store ? "write" : "read", call->site->operation,
                       (uintptr_t)call->memory % POINTER_ALIGNMENT != 0
                           ? "the pointer must be a multiple of 32 bytes"
                           : "the leading dimension must be a multiple of 16 bytes");
    report_place(worker, call->site);
    report_warp(worker);
    if ((uintptr_t)call->memory % POINTER_ALIGNMENT != 0) {
      fault_report_line("%s is not a multiple of 32", address_describe(worker, call->memory).text);
    }
    if (begins_too_low(worker, call->memory)) {
      fault_report_line(
          "hint: CUDA promises dynamic shared memory at a multiple of 16 bytes and no more: "
          "declare it as extern __shared__ __align__(%d)",
          POINTER_ALIGNMENT);
    } else {
      report_hint(call);
    }
    fault_report_end(worker, cudaErrorMisalignedAddress);
  }
  fault_leave(worker);
}

// The elements of a row of the fragment's matrix, or of a column if it is stored column by column.
static unsigned line_length(const matrix_memory_call *call) {
  const emulator_fragment_type *type = call->type;
  if (call->column_major) return type->use == EMULATOR_MATRIX_B ? 16 : type->m;
  return type->use == EMULATOR_MATRIX_A ? 16 : type->n;
}

// A GPU may give the result that is expected, so its tools do not report this.
static void overlapping(const matrix_memory_call *call) {
  worker *worker = current_worker;
  const char *line = line_name(call);
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    fault_report_title(
        "%s needs %ss that do not overlap: the leading dimension must be at least %u",
        call->site->operation, line, line_length(call));
    report_place(worker, call->site);
    report_warp(worker);
    fault_report_line("ldm is %u, and a %s of this fragment has %u elements",
                      call->leading_dimension, line, line_length(call));
    fault_report_line("hint: PTX leaves the result undefined; store equal %ss one after the other",
                      line);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

void matrix_check_memory(void *const operand[32]) {
  const matrix_memory_call *first = operand[0];
  for (unsigned lane = 1; lane < GPU_WARP_LANES; lane++) {
    const matrix_memory_call *other = operand[lane];
    if (other->memory != first->memory || other->leading_dimension != first->leading_dimension ||
        other->column_major != first->column_major) {
      different_arguments(first, other, lane);
    }
  }
  const unsigned stride = first->leading_dimension * matrix_element_bytes(first->type);
  if ((uintptr_t)first->memory % POINTER_ALIGNMENT != 0 || stride % STRIDE_ALIGNMENT != 0) {
    misaligned(first);
  }
  if (first->leading_dimension < line_length(first)) overlapping(first);
}
