// Accesses outside of memory, misaligned accesses, and reads of uninitialised memory.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(memory, bounds) {
  static const fault_case cases[] = {
      CASE(past_the_end, "Invalid __global__ read of size 4 bytes", "at sum_kernel in ",
           "memory.cu:", "// <- sum", "by thread (11,0,0) in block (0,0,0): address 0x",
           ", 0 bytes past the end of an allocation of 300 bytes"),
      CASE(before_the_start, "Invalid __global__ write of size 4 bytes", "// <- shift",
           "by thread (0,0,0) in block (0,0,0)",
           "4 bytes before the start of an allocation of 256"),
      CASE(null_pointer, "Invalid __global__ read of size 4", "// <- sum", "a null pointer"),
      CASE(host_pointer, "Invalid __global__ read of size 4", "// <- sum", "near no allocation",
           "hint: is it a pointer to memory of the host"),
      CASE(freed_memory, "Invalid __global__ read of size 4", "// <- sum",
           "inside an allocation of 300 bytes that has been freed"),
      CASE(past_mapped_memory, "Invalid __global__ read of size 4 bytes", "// <- sum",
           "by thread (11,0,0) in block (0,0,0)",
           ", 0 bytes past the end of an allocation of 2097152 bytes"),
      CASE(straddles_the_end, "Invalid __global__ read of size 8", "// <- pair",
           "inside an allocation of 300 bytes", "hint: the access begins inside and ends outside"),
      CASE(past_first_shared, "Invalid __shared__ write of size 4 bytes", "// <- static",
           "by thread (20,0,0) in block (0,0,0): address ",
           " + 0x50, but the array ends 80 bytes behind its start"),
      CASE(
          past_last_shared, "Invalid __shared__ write of size 4 bytes", "// <- static",
          "by thread (20,0,0) in block (0,0,0): 0 bytes past the end of the last __shared__ array"),
      CASE(
          past_dynamic_shared, "Invalid __shared__ write of size 4 bytes", "// <- dynamic",
          "by thread (31,0,0) in block (0,0,0): 4 bytes past the end of dynamic shared memory (124 "
          "bytes asked for at the launch)"),
      CASE(index_past_row, "Index out of bounds: index 8 of an array of type 'float [8]'",
           "// <- index", "by thread ("),
      CASE(negative_index, "Index out of bounds: index -1 of an array of type 'float [32]'",
           "// <- negative", "by thread (1,0,0) in block (0,0,0)"),
      CASE(index_of_half,
           "Index out of bounds: index 33 of an array of type 'number16 [32]', half or bf16",
           "// <- half index", "by thread (0,0,0) in block (0,0,0)"),
      CASE(index_of_member, "Index out of bounds: index 2 of an array of type 'float2 [2]'",
           "// <- member", "by thread ("),
  };
  RUN_CASES(cases);
}

Test(memory, neighbours) {
  static const fault_case cases[] = {
      CASE(straddles_first_shared, "Invalid __shared__ read of size 4 bytes", "// <- straddling",
           "by thread (0,0,0) in block (0,0,0): address first + 0x4, but the array ends 6 bytes "
           "behind its start"),
      CASE(straddles_dynamic_shared, "Invalid __shared__ read of size 4 bytes",
           "// <- straddling end",
           "1 byte past the end of dynamic shared memory (67 bytes asked for at the launch)"),
      CASE(past_into_other_kernel, "Invalid __shared__ write of size 4 bytes", "// <- lonely",
           "by thread (0,0,0) in block (0,0,0): address lonely + 0x100, but the array ends 256 "
           "bytes behind its start"),
  };
  RUN_CASES(cases);
}

Test(memory, alignment) {
  static const fault_case cases[] = {
      CASE(misaligned_shared, "Invalid __shared__ write of size 16 bytes", "// <- padded",
           "address tile + 0x", " is not a multiple of 16", "hint: "),
      CASE(misaligned_global, "Invalid __global__ read of size 8 bytes", "// <- pair",
           "by thread (0,0,0) in block (0,0,0): byte 4 of an allocation of 300 bytes is not a "
           "multiple of 8"),
  };
  RUN_CASES(cases);
}

Test(memory, unwritten) {
  static const fault_case cases[] = {
      CASE(unwritten_shared, "Uninitialized __shared__ memory read of size 4 bytes", "// <- halves",
           "by thread (0,0,0) in block (1,0,0): address tile + 0x7c"),
      CASE(unwritten_global, "Uninitialized __global__ memory read of size 4 bytes", "// <- sum",
           "by thread (0,0,0) in block (0,0,0): byte 0 of an allocation of 300 bytes",
           "74 more like this"),
      CASE(unwritten_copied, "Uninitialized __global__ memory read of size 4 bytes", "// <- sum"),
      {"unwritten_member",
       unwritten_member,
       {"Uninitialized __global__ memory read of size 8 bytes", "// <- marked copy",
        "Uninitialized __global__ memory read of size 32 bytes", "// <- padded copy"},
       1},
      CASE(unwritten_end, "Uninitialized __shared__ memory read of size 12 bytes",
           "// <- triple copy"),
      CASE(unwritten_tile, "Uninitialized __shared__ memory read of size 4 bytes", "// <- tile",
           "address tile + 0x1e0"),
      CASE(unwritten_atomic, "Uninitialized __shared__ memory read of size 4 bytes",
           "// <- unwritten atomic", "address sum + 0x0"),
  };
  RUN_CASES(cases);
}

// The launch fails with the error that a GPU gives.
Test(memory, errors) {
  static const struct {
    fault_run run;
    cudaError_t error;
  } cases[] = {{misaligned_shared, cudaErrorMisalignedAddress},
               {misaligned_global, cudaErrorMisalignedAddress},
               {past_the_end, cudaErrorIllegalAddress},
               {past_dynamic_shared, cudaErrorIllegalAddress},
               {index_past_row, cudaErrorIllegalAddress}};
  cr_assert_not_null(freopen("/dev/null", "w", stderr)); // the reports
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cases[i].run(true);
    cr_expect_eq(cudaDeviceSynchronize(), cases[i].error, "case %zu", i);
    cr_assert_eq(cudaDeviceReset(), cudaSuccess);
  }
}
