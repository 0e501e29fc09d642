// The rates of a GPU by the vendor's data sheets, for the thin lines in the roofline.
#ifndef VENDOR_H
#define VENDOR_H

typedef struct {
  const char *gpu;     // as the CUDA runtime calls it
  double bandwidth;    // GB/s
  double fp32;         // TFLOP/s
  double tensor_16bit; // TFLOP/s of fp16 and bf16 products, float32 sums, dense
  const char *source;
} vendor_values;

// Returns NULL for a GPU that is not in the table. An emulated GPU is never in it.
const vendor_values *vendor_find(const char *gpu);

// Returns the value for a ceiling of the lab by its name, in its unit; NaN when the data sheet has
// none.
double vendor_value(const vendor_values *values, const char *ceiling);

#endif
