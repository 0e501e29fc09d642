// The driver API: a program that makes its context, loads a module and finds its kernels by name.
#include "feature.h"

#include <cuda.h>

#include <cstring>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define DRIVER(call)                                                                               \
  do {                                                                                             \
    CUresult status = (call);                                                                      \
    const char *text = "";                                                                         \
    if (status != CUDA_SUCCESS && cuGetErrorString(status, &text) == CUDA_SUCCESS) {               \
      printf("%s:%d: %s\n", __FILE__, __LINE__, text);                                             \
      return false;                                                                                \
    }                                                                                              \
  } while (0)

// Whether the call returns this status; prints what else it returns.
#define RETURNS(call, status) returns(__LINE__, call, status)
static bool returns(int line, CUresult found, CUresult expected) {
  if (found != expected) printf("%s:%d: %d, not %d\n", __FILE__, line, found, expected);
  return found == expected;
}

// Some misuse is answered by the emulator, where NVIDIA's driver leaves open what happens.
static bool emulated() {
  char name[64] = "";
  return cuDeviceGetName(name, sizeof name, 0) == CUDA_SUCCESS && strncmp(name, "Emulated", 8) == 0;
}

// The file of this name beside the program.
static std::string beside_program(const char *name) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string program(path, length > 0 ? length : 0);
  return program.substr(0, program.rfind('/') + 1) + name;
}

static std::string contents(const std::string &path) {
  std::string text;
  FILE *file = fopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  for (int c; (c = fgetc(file)) != EOF;) text += char(c);
  fclose(file);
  return text;
}

struct pair { // as in module_kernels.cu
  char tag;
  double value;
};

FEATURE(contexts,
        "cuInit, the devices and their attributes, cuCtxCreate, cuCtxPushCurrent and their kin in "
        "several threads; the primary context",
        "contexts of a device share its memory, and cuCtxDestroy frees none of it") {
  CUdevice device;
  CUcontext context, found;
  char name[64];
  int multiprocessors = 0;
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDeviceGetName(name, sizeof name, device));
  DRIVER(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  DRIVER(cuCtxCreate(&context, nullptr, 0, device));
  bool right = name[0] != 0 && multiprocessors > 0;
  DRIVER(cuCtxPopCurrent(&found));
  std::thread other([&] { // that has no context before
    CUdeviceptr memory;
    int back = 0;
    right &= RETURNS(cuCtxPushCurrent(context), CUDA_SUCCESS);
    right &= RETURNS(cuMemAlloc(&memory, 8), CUDA_SUCCESS);
    right &= RETURNS(cuMemsetD32(memory, 7, 1), CUDA_SUCCESS);
    right &= RETURNS(cuMemsetD32(memory + 2, 9, 1), CUDA_ERROR_INVALID_VALUE); // no multiple of 4
    right &= RETURNS(cuMemcpyDtoH(&back, memory, 4), CUDA_SUCCESS) && back == 7;
    right &= RETURNS(cuMemFree(memory), CUDA_SUCCESS);
  });
  other.join();
  DRIVER(cuCtxDestroy(context));
  return right && found == context &&
         (!emulated() || RETURNS(cuCtxPushCurrent(context), CUDA_ERROR_CONTEXT_IS_DESTROYED));
}

FEATURE(forks,
        "fork() behind a call of CUDA: in the child each call of CUDA fails with "
        "cudaErrorInitializationError, as on a GPU, and a sentence says why",
        "") {
  DRIVER(cuInit(0));
  if (cudaFree(nullptr) != cudaSuccess) return false;
  const pid_t child = fork();
  if (child == 0) {
    void *memory;
    const bool refused = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                         cudaMalloc(&memory, 16) == cudaErrorInitializationError &&
                         cudaGetLastError() == cudaErrorInitializationError;
    _exit(refused ? 0 : 1);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child && status == 0 && cudaFree(nullptr) == cudaSuccess;
}

// Runs the kernels of the module, with the arguments by pointers and in one buffer.
static bool use(CUmodule module) {
  CUfunction scale, reverse;
  CUdeviceptr x, factors, launches;
  size_t bytes = 0;
  const float of[4] = {0, 2, 3, 4};
  int n = 40, counted = 0;
  std::vector<float> host(n, 1.0f);
  DRIVER(cuModuleGetFunction(&scale, module, "scale"));
  DRIVER(cuModuleGetFunction(&reverse, module, "_Z7reversePii"));
  DRIVER(cuModuleGetGlobal(&factors, &bytes, module, "factors"));
  if (bytes != sizeof of) return false;
  DRIVER(cuModuleGetGlobal(&launches, nullptr, module, "launches"));
  DRIVER(cuMemcpyHtoD(factors, of, sizeof of));
  DRIVER(cuMemAlloc(&x, n * sizeof(float)));
  DRIVER(cuMemcpyHtoD(x, host.data(), n * sizeof(float)));

  char which = 2;
  pair add = {1, 0.5};
  void *arguments[] = {&which, &x, &n, &add};
  DRIVER(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr)); // 3.5
  char buffer[40] = {};
  size_t size = sizeof buffer;
  which = 1;
  memcpy(buffer, &which, 1);
  memcpy(buffer + 8, &x, 8);
  memcpy(buffer + 16, &n, 4);
  memcpy(buffer + 24, &add, sizeof add);
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  DRIVER(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra)); // 7.5
  size = 24; // too small; whether a GPU says so is not known
  if (emulated() &&
      cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == CUDA_SUCCESS)
    return false;
  size = sizeof buffer;
  if (!RETURNS(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments, extra),
               CUDA_ERROR_INVALID_VALUE))
    return false;

  DRIVER(cuMemcpyDtoH(host.data(), x, n * sizeof(float)));
  DRIVER(cuMemcpyDtoH(&counted, launches, sizeof counted));
  if (host[0] != 7.5f || host[39] != 7.5f || counted != 2) return false;

  const int order[4] = {1, 2, 3, 4};
  int reversed[4], four = 4;
  DRIVER(cuMemcpyHtoD(x, order, sizeof order));
  void *few[] = {&x, &four};
  DRIVER(cuLaunchKernel(reverse, 1, 1, 1, 4, 1, 1, sizeof order, nullptr, few, nullptr));
  DRIVER(cuMemcpyDtoH(reversed, x, sizeof reversed));
  DRIVER(cuMemFree(x));
  DRIVER(cuModuleUnload(module));
  return reversed[0] == 4 && reversed[3] == 1 &&
         (!emulated() ||
          RETURNS(cuLaunchKernel(reverse, 1, 1, 1, 4, 1, 1, 0, nullptr, few, nullptr),
                  CUDA_ERROR_INVALID_HANDLE)); // of a module that is unloaded
}

FEATURE(modules,
        "cuModuleLoad, cuModuleLoadData and cuLink of what nvcc-cpu -cubin, -fatbin or -ptx makes; "
        "cuModuleGetFunction, cuModuleGetGlobal, cuLaunchKernel with pointers or one buffer",
        "a cubin, fatbin or PTX of a GPU: one sentence; more than one module in cuLink: one "
        "sentence; cuLibraryLoad and arrays: an unknown name") {
  CUcontext context;
  CUmodule first, second, third, none;
  CUlinkState link;
  CUfunction function;
  void *image;
  DRIVER(cuInit(0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
  DRIVER(cuCtxSetCurrent(context));
  DRIVER(cuModuleLoad(&first, beside_program("module_kernels.cubin").c_str()));
  std::string text = contents(beside_program("module_kernels.ptx"));
  DRIVER(cuModuleLoadData(&second, text.c_str()));
  DRIVER(cuLinkCreate(0, nullptr, nullptr, &link));
  DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "kernels", 0, nullptr,
                       nullptr));
  DRIVER(cuLinkComplete(link, &image, nullptr));
  DRIVER(cuModuleLoadData(&third, image));
  DRIVER(cuLinkDestroy(link));
  // Each module has its own variables, and a name without its signature is none.
  const char *of_a_gpu = "// of a GPU\n.version 9.0\n.target sm_90\n";
  const bool right =
      RETURNS(cuModuleGetFunction(&function, first, "reverse"), CUDA_ERROR_NOT_FOUND) &&
      (!emulated() || RETURNS(cuModuleLoadData(&none, of_a_gpu), CUDA_ERROR_NO_BINARY_FOR_GPU)) &&
      use(first) && use(second) && use(third) &&
      RETURNS(cuModuleLoad(&none, "/none.cubin"), CUDA_ERROR_FILE_NOT_FOUND);
  DRIVER(cuCtxSetCurrent(nullptr));
  return right;
}

FEATURE(virtual_memory,
        "cuMemCreate, cuMemAddressReserve, cuMemMap, cuMemSetAccess; a handle as a file descriptor "
        "for another process",
        "compression and the location of the memory change nothing; cudaIpcGetMemHandle and pools "
        "for other processes: an unknown name") {
  CUcontext context;
  CUmemGenericAllocationHandle memory, again;
  CUmemAllocationProp wanted = {};
  CUdeviceptr addresses;
  size_t chunk = 0;
  int file = -1;
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  DRIVER(cuInit(0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
  DRIVER(cuCtxSetCurrent(context));
  DRIVER(cuMemGetAllocationGranularity(&chunk, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  DRIVER(cuMemCreate(&memory, chunk, &wanted, 0));
  DRIVER(cuMemExportToShareableHandle(&file, memory, wanted.requestedHandleTypes, 0));
  DRIVER(
      cuMemImportFromShareableHandle(&again, (void *)(uintptr_t)file, wanted.requestedHandleTypes));
  close(file);
  // The same memory is seen at two addresses. At a third one there is none.
  DRIVER(cuMemAddressReserve(&addresses, 3 * chunk, 0, 0, 0));
  DRIVER(cuMemMap(addresses, chunk, 0, memory, 0));
  DRIVER(cuMemMap(addresses + chunk, chunk, 0, again, 0));
  const CUmemAccessDesc access = {wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  DRIVER(cuMemSetAccess(addresses, 2 * chunk, &access, 1));
  DRIVER(cuMemRelease(memory));
  DRIVER(cuMemRelease(again));
  const int value = 42;
  int seen = 0;
  DRIVER(cuMemcpyHtoD(addresses + 4, &value, sizeof value));
  DRIVER(cuMemcpyDtoH(&seen, addresses + chunk + 4, sizeof seen));
  int none;
  const bool right =
      RETURNS(cuMemcpyDtoH(&none, addresses + 2 * chunk, 4), CUDA_ERROR_INVALID_VALUE) &&
      (!emulated() || // a GPU's driver takes addresses at which nothing is mapped
       RETURNS(cuMemUnmap(addresses + 2 * chunk, 2 * chunk), CUDA_ERROR_INVALID_VALUE));
  DRIVER(cuMemUnmap(addresses, 2 * chunk));
  DRIVER(cuMemAddressFree(addresses, 3 * chunk));
  DRIVER(cuCtxSetCurrent(nullptr));
  return right && seen == 42;
}
