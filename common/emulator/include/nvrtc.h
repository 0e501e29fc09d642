// Stand-in for <nvrtc.h>, the compiler that a program calls at run time, with CUDA 13's names and values (NVRTC, CUDA
// Toolkit documentation). It compiles with scripts/nvcc-cpu, which takes a second, and g++ must be there. What
// nvrtcGetCUBIN and nvrtcGetPTX give is a module of the emulator, for cuModuleLoadData. C and C++.
#ifndef __NVRTC_H__
#define __NVRTC_H__

#include <stddef.h>

#ifndef EMULATOR_API
#define EMULATOR_API __attribute__((visibility("default")))
#endif

typedef enum {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  NVRTC_ERROR_INTERNAL_ERROR = 11
} nvrtcResult;

typedef struct _nvrtcProgram *nvrtcProgram;

#ifdef __cplusplus
extern "C" {
#endif

EMULATOR_API const char *nvrtcGetErrorString(nvrtcResult result);
EMULATOR_API nvrtcResult nvrtcVersion(int *major, int *minor);
EMULATOR_API nvrtcResult nvrtcGetNumSupportedArchs(int *count);
EMULATOR_API nvrtcResult nvrtcGetSupportedArchs(int *archs);

// The headers are texts, each with the name by which the source includes it.
EMULATOR_API nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source,
                                            const char *name, int header_count,
                                            const char *const *headers,
                                            const char *const *header_names);
EMULATOR_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program);

// The options are those of nvcc-cpu. One that it does not know is named in the log and left out. Returns
// NVRTC_ERROR_COMPILATION when the source is wrong, and the log says where.
EMULATOR_API nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                             const char *const *options);
EMULATOR_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes);
EMULATOR_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log);
EMULATOR_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes);
EMULATOR_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin);
EMULATOR_API nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes);
EMULATOR_API nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx);

// A kernel such as "scale<float>", or a variable's address, such as "&factors": the program's module has it, under the
// name that nvrtcGetLoweredName gives.
EMULATOR_API nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression);
EMULATOR_API nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression,
                                             const char **name);

#ifdef __cplusplus
}
#endif

#endif
