// nvrtc: a program is a source, its headers and name expressions, which scripts/nvcc-cpu makes into a module.
#define _GNU_SOURCE
#include "compiler.h"
#include "module.h"

#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _nvrtcProgram {
  char *source, *name;
  text_list headers, header_names, expressions, lowered;
  compiled result;
  module_image image; // of the compiled module
  bool is_compiled, is_right, is_real;
};

const char *nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
#define NAME(code)                                                                                 \
  case code: return #code;
    NAME(NVRTC_SUCCESS)
    NAME(NVRTC_ERROR_OUT_OF_MEMORY)
    NAME(NVRTC_ERROR_PROGRAM_CREATION_FAILURE)
    NAME(NVRTC_ERROR_INVALID_INPUT)
    NAME(NVRTC_ERROR_INVALID_PROGRAM)
    NAME(NVRTC_ERROR_INVALID_OPTION)
    NAME(NVRTC_ERROR_COMPILATION)
    NAME(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
    NAME(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)
    NAME(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
    NAME(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
    NAME(NVRTC_ERROR_INTERNAL_ERROR)
#undef NAME
  }
  return "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int *major, int *minor) {
  if (major == NULL || minor == NULL) return NVRTC_ERROR_INVALID_INPUT;
  *major = CUDA_VERSION / 1000;
  *minor = CUDA_VERSION % 1000 / 10;
  return NVRTC_SUCCESS;
}

// What CUDA 13.0 takes, up to the emulator's GPU.
static const int architectures[] = {75, 80, 86, 87, 88, 89, 90};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
  if (count == NULL) return NVRTC_ERROR_INVALID_INPUT;
  *count = ARCHITECTURES;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *archs) {
  if (archs == NULL) return NVRTC_ERROR_INVALID_INPUT;
  memcpy(archs, architectures, sizeof architectures);
  return NVRTC_SUCCESS;
}

static void forget_result(nvrtcProgram program) {
  compiled_free(&program->result);
  module_image_free(&program->image);
  text_list_free(&program->lowered);
  program->is_compiled = program->is_right = program->is_real = false;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  if (program == NULL || *program == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
  forget_result(*program);
  text_list_free(&(*program)->headers);
  text_list_free(&(*program)->header_names);
  text_list_free(&(*program)->expressions);
  free((*program)->source);
  free((*program)->name);
  free(*program);
  *program = NULL;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                               int header_count, const char *const *headers,
                               const char *const *header_names) {
  if (program == NULL || source == NULL || header_count < 0 ||
      (header_count > 0 && (headers == NULL || header_names == NULL)))
    return NVRTC_ERROR_INVALID_INPUT;
  nvrtcProgram made = calloc(1, sizeof *made);
  if (made == NULL) return NVRTC_ERROR_OUT_OF_MEMORY;
  made->source = strdup(source);
  made->name = strdup(name != NULL && name[0] != '\0' ? name : "default_program");
  bool done = made->source != NULL && made->name != NULL;
  for (int i = 0; done && i < header_count; i++)
    done = text_list_add(&made->headers, headers[i]) &&
           text_list_add(&made->header_names, header_names[i]);
  if (!done) {
    nvrtcDestroyProgram(&made);
    return NVRTC_ERROR_OUT_OF_MEMORY;
  }
  *program = made;
  return NVRTC_SUCCESS;
}

// Loads the module, so that it tells which symbols the name expressions stand for.
static bool lower_names(nvrtcProgram program) {
  module_error error = {""};
  if (program->expressions.count == 0) return true;
  const void *inside = module_map(&program->image, &error);
  if (inside == NULL) {
    compiled_add_to_log(&program->result, error.text);
    return false;
  }
  for (size_t i = 0; i < program->expressions.count; i++) {
    const void *address = module_expression(program->expressions.items[i]);
    char *name = address != NULL ? module_symbol_name(address) : NULL;
    const bool added = name != NULL && text_list_add(&program->lowered, name);
    free(name);
    if (!added) return false;
  }
  return true;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                const char *const *options) {
  if (program == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
  if (option_count < 0 || (option_count > 0 && options == NULL)) return NVRTC_ERROR_INVALID_INPUT;
  forget_result(program);
  const compiler_input input = {.source = program->source,
                                .name = program->name,
                                .headers = &program->headers,
                                .header_names = &program->header_names,
                                .expressions = &program->expressions,
                                .options = options,
                                .option_count = (size_t)option_count};
  module_error error = {""};
  program->is_compiled = true;
  for (int i = 0; i < option_count; i++)
    program->is_real |= strstr(options[i], "=sm_") != NULL || strncmp(options[i], "sm_", 3) == 0;
  if (!compiler_run(&input, &program->result)) return NVRTC_ERROR_COMPILATION;
  program->is_right = module_image_read(program->result.text, program->result.text_bytes,
                                        &program->image, &error) == CUDA_SUCCESS;
  if (!program->is_right) {
    compiled_add_to_log(&program->result, error.text);
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  return lower_names(program) ? NVRTC_SUCCESS : NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

// ---- Results ------------------------------------------------------------------------------------

// Gives the size of the bytes, or the bytes; the other pointer is NULL.
static nvrtcResult give(const void *bytes, size_t count, size_t *size, char *out) {
  if (size == NULL && out == NULL) return NVRTC_ERROR_INVALID_INPUT;
  if (size != NULL) *size = count;
  if (out != NULL) memcpy(out, bytes, count);
  return NVRTC_SUCCESS;
}

static nvrtcResult give_log(nvrtcProgram program, size_t *size, char *out) {
  if (program == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
  const char *log = program->result.log != NULL ? program->result.log : "";
  return give(log, strlen(log) + 1, size, out);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes) {
  return give_log(program, bytes, NULL);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
  return give_log(program, NULL, log);
}

// As with NVIDIA's, a program that is not compiled, or wrong, has an empty PTX and no machine code.
static nvrtcResult give_ptx(nvrtcProgram program, size_t *size, char *out) {
  if (program == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!program->is_right) return give("", 1, size, out);
  return give(program->result.text, program->result.text_bytes + 1, size, out);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes) {
  return give_ptx(program, bytes, NULL);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx) { return give_ptx(program, NULL, ptx); }

// There is no machine code either for an architecture such as compute_90, which is none of a GPU.
static nvrtcResult give_cubin(nvrtcProgram program, size_t *size, char *out) {
  if (program == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
  const bool has_code = program->is_right && program->is_real;
  return give(program->image.bytes, has_code ? program->image.count : 0, size, out);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes) {
  return give_cubin(program, bytes, NULL);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin) {
  return give_cubin(program, NULL, cubin);
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression) {
  if (program == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == NULL) return NVRTC_ERROR_INVALID_INPUT;
  if (program->is_compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  return text_list_add(&program->expressions, expression) ? NVRTC_SUCCESS
                                                          : NVRTC_ERROR_OUT_OF_MEMORY;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name) {
  if (program == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == NULL || name == NULL) return NVRTC_ERROR_INVALID_INPUT;
  if (!program->is_compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  for (size_t i = 0; i < program->lowered.count; i++) {
    if (strcmp(program->expressions.items[i], expression) != 0) continue;
    *name = program->lowered.items[i];
    return NVRTC_SUCCESS;
  }
  return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
