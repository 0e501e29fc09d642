// The lab takes these things from a GPU's properties: each record has the name, and the folder of the records is named by
// it.
#define _GNU_SOURCE
#include "device/device.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// The emulator tells of each GPU what its driver tells.
Test(device, properties_of_each_gpu) {
  static const struct {
    const char *key, *name, *slug;
    int capability, multiprocessors;
    size_t l2_mib;
  } gpus[] = {
      {"h200", "Emulated NVIDIA H200", "emulated-nvidia-h200", 90, 132, 60},
      {"a100", "Emulated NVIDIA A100-SXM4-80GB", "emulated-nvidia-a100-sxm4-80gb", 80, 108, 40},
      {"l4", "Emulated NVIDIA L4", "emulated-nvidia-l4", 89, 58, 48},
      {"t4", "Emulated Tesla T4", "emulated-tesla-t4", 75, 40, 4},
  };
  for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
    device_info device;
    error_text error;
    setenv("EMU_GPU", gpus[i].key, 1);
    cr_assert(device_open(&device, &error), "%s", error.text);
    if (!device.emulated) cr_skip_test("this is a GPU, and no emulator");
    cr_expect_str_eq(device.name, gpus[i].name);
    cr_expect_str_eq(device.slug, gpus[i].slug);
    cr_expect_eq(device.compute_capability, gpus[i].capability, "%s: %d", gpus[i].key,
                 device.compute_capability);
    cr_expect_eq(device.multiprocessors, gpus[i].multiprocessors, "%s: %d", gpus[i].key,
                 device.multiprocessors);
    cr_expect_eq(device.l2_bytes, gpus[i].l2_mib << 20, "%s: %zu", gpus[i].key, device.l2_bytes);
    cr_expect_gt(device.memory_bytes, (size_t)14 << 30, "%s", gpus[i].key);
  }
}

// A step must not find the last error that the step before has left.
Test(device, works_behind_an_error_that_is_over) {
  void *memory = NULL;
  cr_assert_neq(cudaMalloc(&memory, SIZE_MAX / 2), cudaSuccess);
  cr_assert_neq(cudaPeekAtLastError(), cudaSuccess);
  cr_expect(device_works());
  cr_expect_eq(cudaPeekAtLastError(), cudaSuccess);
}
