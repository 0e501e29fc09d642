// The image that a program gives to cuModuleLoadData: the bytes of a shared object that scripts/nvcc-cpu has made
// (-cubin, -fatbin), or the same as text (-ptx), with a line that begins with // and the bytes in base64 (RFC 4648).
#ifndef MODULE_IMAGE_H
#define MODULE_IMAGE_H

#include <cuda.h>

typedef struct {
  unsigned char *bytes; // the shared object; module_image_free frees it
  size_t count;
} module_image;

typedef struct {
  char text[400];
} module_error;

// Reads the image, which has `limit` bytes or less; where the caller does not know (MODULE_ANY_SIZE), the image tells its
// size by itself. Returns CUDA_ERROR_NO_BINARY_FOR_GPU for machine code and PTX of a GPU,
// and for a module of another mode (sanitize, count) than the program's; CUDA_ERROR_INVALID_IMAGE for anything else; and
// `error` says why in a sentence.
#define MODULE_ANY_SIZE SIZE_MAX
CUresult module_image_read(const void *image, size_t limit, module_image *out, module_error *error);
void module_image_free(module_image *image);

// The mode of nvcc-cpu for which this emulator is built: "run", "sanitize" or "count".
const char *module_image_mode(void);

// The file's `bytes` bytes, and zeros behind them; NULL when it cannot be read. The caller frees them.
char *module_read_file(const char *path, size_t *bytes);

// Fills what the options of a load or link ask for: the logs, of which that of errors gets the sentence `error`.
void module_write_logs(unsigned count, CUjit_option *options, void **values, const char *error);

#endif
