// Kernels whose source the program has as a text, and compiles while it runs.
#include "feature.h"

#include <cuda.h>
#include <nvrtc.h>

#include <cstring>
#include <string>
#include <vector>

static const char source[] = R"(#include "half_of.h"
extern "C" __global__ void halve(float *x) { x[threadIdx.x] = half_of(x[threadIdx.x]); }
namespace lab {
__constant__ int offset = 1;
template <typename T, int N>
__global__ void scale(T *x) { x[threadIdx.x] = x[threadIdx.x] * N + FACTOR * offset; }
}
)";
static const char header[] = "#ifndef __CUDACC_RTC__\n#error this header is for nvrtc\n#endif\n"
                             "__device__ float half_of(float x) { return x / 2; }\n";

// The kernel runs on 1, 2, 3, 4, and the result of the last one counts.
static float last_of(CUmodule module, const char *kernel) {
  CUfunction function;
  CUdeviceptr x;
  float host[4] = {1, 2, 3, 4};
  void *arguments[] = {&x};
  if (cuModuleGetFunction(&function, module, kernel) != CUDA_SUCCESS) return -1;
  cuMemAlloc(&x, sizeof host);
  cuMemcpyHtoD(x, host, sizeof host);
  cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr);
  const bool right = cuMemcpyDtoH(host, x, sizeof host) == CUDA_SUCCESS;
  cuMemFree(x);
  return right ? host[3] : -1;
}

static CUcontext context() {
  CUcontext primary = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&primary, 0);
  cuCtxSetCurrent(primary);
  return primary;
}

FEATURE(
    nvrtc,
    "nvrtcCompileProgram with headers and options, nvrtcGetCUBIN and nvrtcGetPTX for "
    "cuModuleLoadData, nvrtcAddNameExpression and nvrtcGetLoweredName for templates and variables",
    "a compilation takes a second; the standard library's headers are there too; LTO and "
    "OptiX: an unknown name") {
  nvrtcProgram program;
  const char *headers[] = {header}, *header_names[] = {"half_of.h"}, *lowered, *variable;
  // A cubin is for GPUs of one major version.
  int major = 8, minor = 0;
  const CUcontext primary = context();
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
  const std::string architecture =
      "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor);
  const char *options[] = {architecture.c_str(), "-DFACTOR=10", "--std=c++17"};
  if (primary == nullptr ||
      nvrtcCreateProgram(&program, source, "kernels.cu", 1, headers, header_names) != NVRTC_SUCCESS)
    return false;
  nvrtcAddNameExpression(program, "lab::scale<float, 3>");
  nvrtcAddNameExpression(program, "&lab::offset");
  if (nvrtcGetLoweredName(program, "&lab::offset", &variable) !=
      NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
    return false;
  const nvrtcResult result = nvrtcCompileProgram(program, 3, options);
  size_t bytes;
  nvrtcGetProgramLogSize(program, &bytes);
  std::vector<char> log(bytes);
  nvrtcGetProgramLog(program, log.data());
  if (result != NVRTC_SUCCESS) printf("%s: %s\n", nvrtcGetErrorString(result), log.data());
  if (result != NVRTC_SUCCESS) return false;
  nvrtcGetCUBINSize(program, &bytes);
  std::vector<char> cubin(bytes);
  nvrtcGetCUBIN(program, cubin.data());
  nvrtcGetPTXSize(program, &bytes);
  std::vector<char> ptx(bytes);
  nvrtcGetPTX(program, ptx.data());

  CUmodule first, second;
  CUdeviceptr offset;
  const int other = 2;
  nvrtcGetLoweredName(program, "lab::scale<float, 3>", &lowered);
  nvrtcGetLoweredName(program, "&lab::offset", &variable);
  bool right = cuModuleLoadData(&first, cubin.data()) == CUDA_SUCCESS &&
               cuModuleLoadData(&second, ptx.data()) == CUDA_SUCCESS &&
               cuModuleGetGlobal(&offset, nullptr, second, variable) == CUDA_SUCCESS;
  right = right && cuMemcpyHtoD(offset, &other, sizeof other) == CUDA_SUCCESS;
  right = right && last_of(first, "halve") == 2 && last_of(first, lowered) == 22 &&
          last_of(second, lowered) == 32 && strlen(ptx.data()) + 1 == bytes;
  nvrtcDestroyProgram(&program);
  cuCtxSetCurrent(nullptr);
  return right && program == nullptr;
}

FEATURE(errors_of_nvrtc, "the log of nvrtc names the line of the source, or of the header", "") {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, "\nextern \"C\" __global__ void k(int *x) {\n  *x = wrong;\n}\n",
                     "of the reader.cu", 0, nullptr, nullptr);
  const nvrtcResult result = nvrtcCompileProgram(program, 0, nullptr);
  size_t bytes, cubin;
  nvrtcGetProgramLogSize(program, &bytes);
  std::vector<char> log(bytes);
  nvrtcGetProgramLog(program, log.data());
  char ptx = 'x';
  const bool none = nvrtcGetCUBINSize(program, &cubin) == NVRTC_SUCCESS && cubin == 0 &&
                    nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS && bytes == 1 &&
                    nvrtcGetPTX(program, &ptx) == NVRTC_SUCCESS && ptx == '\0';
  nvrtcDestroyProgram(&program);
  // g++ writes the line behind a colon, and NVIDIA's nvrtc in brackets.
  const bool line =
      strstr(log.data(), "of the reader.cu:3") || strstr(log.data(), "of the reader.cu(3)");
  return result == NVRTC_ERROR_COMPILATION && none && line &&
         strcmp(nvrtcGetErrorString(result), "NVRTC_ERROR_COMPILATION") == 0;
}
