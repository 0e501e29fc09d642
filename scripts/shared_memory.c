// The dynamic shared memory of a step's configurations: linked with the step's object by ptxas.sh. A
// row of tabs for each configuration and head_dim: name, head_dim, bytes. No row when the step does
// not say, or when the configuration cannot take the head_dim.
#include "attention.h"
#include <stdio.h>

int main(void) {
  if (!attention_configurations || !attention_configure || !attention_shared_memory_bytes) return 0;
  const int head_dims[] = {32, 64, 128};
  for (const char *const *name = attention_configurations(); *name; name++) {
    if (!attention_configure(*name)) return 1;
    for (int i = 0; i < 3; i++) {
      const attention_shape shape = {.dtype = ATTENTION_FP16,
                                     .batch = 1,
                                     .heads = 1,
                                     .kv_heads = 1,
                                     .seq_q = 4096,
                                     .seq_kv = 4096,
                                     .head_dim = head_dims[i],
                                     .scale = 1.0f};
      const size_t bytes = attention_shared_memory_bytes(&shape);
      if (bytes > 0) printf("%s\t%d\t%zu\n", *name, head_dims[i], bytes);
    }
  }
  return 0;
}
