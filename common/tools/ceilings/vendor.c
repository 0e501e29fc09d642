#include "ceilings/vendor.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Data sheets that give tensor-core rates with sparsity only are halved here, as their footnotes say.
static const vendor_values table[] = {
    {"NVIDIA H200", 4800, 67, 989.5, "NVIDIA H200 Tensor Core GPU data sheet (SXM)"},
    {"NVIDIA H100 80GB HBM3", 3350, 67, 989.5, "NVIDIA H100 Tensor Core GPU data sheet (SXM)"},
    {"NVIDIA A100-SXM4-80GB", 2039, 19.5, 312, "NVIDIA A100 Tensor Core GPU data sheet (80GB SXM)"},
    {"NVIDIA A100-SXM4-40GB", 1555, 19.5, 312, "NVIDIA A100 Tensor Core GPU data sheet (40GB SXM)"},
    {"NVIDIA L4", 300, 30.3, 121, "NVIDIA L4 Tensor Core GPU data sheet"},
};

const vendor_values *vendor_find(const char *gpu) {
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (strcmp(table[i].gpu, gpu) == 0) return &table[i];
  }
  return NULL;
}

double vendor_value(const vendor_values *values, const char *ceiling) {
  if (!values) return NAN;
  if (strcmp(ceiling, "copy_bandwidth") == 0 || strcmp(ceiling, "read_bandwidth") == 0)
    return values->bandwidth;
  if (strcmp(ceiling, "fp32_fma") == 0) return values->fp32;
  if (strncmp(ceiling, "tensor_", 7) == 0) return values->tensor_16bit;
  return NAN;
}
