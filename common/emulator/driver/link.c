// cuLink: the linker of modules. Here a module is linked already, so it takes one and gives it back.
#include "context.h"
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
  module_image module;
  unsigned count; // of options, which hold until the link is completed
  CUjit_option *options;
  void **values;
};

char *module_read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *text = NULL;
  size_t count = 0, capacity = 0;
  do {
    capacity = capacity * 2 + 65536;
    char *larger = realloc(text, capacity + 1);
    if (larger == NULL) break;
    text = larger;
    count += fread(text + count, 1, capacity - count, file);
  } while (count == capacity);
  const bool whole = text != NULL && feof(file);
  fclose(file);
  if (!whole) {
    free(text);
    return NULL;
  }
  memset(text + count, 0, capacity + 1 - count);
  *bytes = count;
  return text;
}

static void write_log(void *buffer, size_t bytes, const char *text) {
  if (buffer != NULL && bytes > 0) snprintf(buffer, bytes, "%s", text);
}

void module_write_logs(unsigned count, CUjit_option *options, void **values, const char *error) {
  size_t info_bytes = 0, error_bytes = 0;
  void *info_log = NULL, *error_log = NULL;
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == CU_JIT_INFO_LOG_BUFFER) info_log = values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) error_log = values[i];
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) info_bytes = (size_t)values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) error_bytes = (size_t)values[i];
    if (options[i] == CU_JIT_WALL_TIME) *(float *)values[i] = 0; // there is nothing to compile
  }
  write_log(info_log, info_bytes, "");
  write_log(error_log, error_bytes, error);
}

CUresult cuLinkCreate(unsigned int count, CUjit_option *options, void **values,
                      CUlinkState *state) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  if (state == NULL || (count > 0 && (options == NULL || values == NULL)))
    return CUDA_ERROR_INVALID_VALUE;
  *state = calloc(1, sizeof **state);
  if (*state == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  **state = (struct CUlinkState_st){{0}, count, options, values};
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned int count, CUjit_option *options, void **values) {
  (void)name, (void)count, (void)options, (void)values;
  if (state == NULL || data == NULL || bytes < 4) return CUDA_ERROR_INVALID_VALUE;
  module_error error = {""};
  CUresult result = CUDA_ERROR_NOT_SUPPORTED;
  if (state->module.bytes != NULL || type > CU_JIT_INPUT_FATBINARY)
    snprintf(error.text, sizeof error.text,
             "the emulator's linker takes one module, and neither objects nor libraries: put the "
             "kernels and their functions into one source");
  else
    result = module_image_read(data, bytes, &state->module, &error);
  if (error.text[0] != '\0') fprintf(stderr, "========= cuLinkAddData: %s\n", error.text);
  module_write_logs(state->count, state->options, state->values, error.text);
  return result;
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int count,
                       CUjit_option *options, void **values) {
  if (path == NULL) return CUDA_ERROR_INVALID_VALUE;
  size_t bytes;
  char *text = module_read_file(path, &bytes);
  if (text == NULL) return CUDA_ERROR_FILE_NOT_FOUND;
  const CUresult result = cuLinkAddData(state, type, text, bytes, path, count, options, values);
  free(text);
  return result;
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes) {
  if (state == NULL || image == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (state->module.bytes == NULL) return CUDA_ERROR_INVALID_IMAGE;
  *image = state->module.bytes;
  if (bytes != NULL) *bytes = state->module.count;
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  if (state == NULL) return CUDA_ERROR_INVALID_HANDLE;
  module_image_free(&state->module);
  free(state);
  return CUDA_SUCCESS;
}
