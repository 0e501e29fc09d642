// Tests what the emulator says of tensor maps that lie where the copy engine cannot read them, and that it says nothing
// of others.
#define _GNU_SOURCE
#include "emulator.h"
#include "fault_report.h"
#include "map_faults.h"

static void expect(void (*launch)(void), const char *place) {
  expect_report(&(fault_case){
      launch,
      cudaErrorIllegalAddress,
      {"cp.async.bulk.tensor.4d in common/tests/emulator/map_faults.cu:", place,
       "where the copy engine cannot read it. A map is a parameter of the kernel that has the "
       "words `const __grid_constant__`, or it is in constant or global memory",
       "by thread (0,0,0) in block (0,0,0)"}});
}

Test(map_faults, local_memory) {
  static const char place[] = ": the tensor map is in a thread's own local memory, ";
  expect(fault_map_by_value, place);
  expect(fault_map_in_local, place);
  expect(fault_map_passed_on, place);
}

Test(map_faults, shared_memory) {
  expect(fault_map_in_shared, ": the tensor map is in shared memory, ");
}

Test(map_faults, alignment) {
  expect_report(
      &(fault_case){fault_map_misaligned,
                    cudaErrorMisalignedAddress,
                    {"cp.async.bulk.tensor.4d in common/tests/emulator/map_faults.cu:",
                     ": a tensor map must be at a multiple of 64 bytes\n", "by thread (0,0,0)"}});
}

Test(map_faults, right_places) {
  cr_expect(map_in_parameter());
  cr_expect(map_in_struct());
  cr_expect(map_in_constant());
  cr_expect(map_in_global());
}
