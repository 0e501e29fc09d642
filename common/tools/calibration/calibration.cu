#include "case.cuh"

static const kernel_case *const lists[] = {global_cases, shared_cases, tensor_cases,
                                           divergence_cases};

size_t calibration_count(void) {
  size_t count = 0;
  for (const kernel_case *list : lists) {
    while (list->name) {
      count++;
      list++;
    }
  }
  return count;
}

static const kernel_case &find(size_t number) {
  for (const kernel_case *list : lists) {
    for (; list->name; list++) {
      if (number-- == 0) return *list;
    }
  }
  return *global_cases;
}

calibration_case calibration_at(size_t number) {
  const kernel_case &from = find(number);
  return {from.name,
          {{from.global_loads.count, from.global_loads.transfers, from.global_stores.count,
            from.global_stores.transfers, from.shared_loads.count, from.shared_loads.transfers,
            from.shared_stores.count, from.shared_stores.transfers, from.tensor_core_operations,
            from.async_copy_bytes, from.block_barriers, from.divergent_branches}}};
}

cudaError_t calibration_launch(size_t number, const float *in, float *out) {
  const kernel_case &from = find(number);
  const auto kernel = from.kernel;
  kernel<<<from.blocks, from.threads>>>(in, out);
  return cudaGetLastError();
}
