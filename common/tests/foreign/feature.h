// A feature of CUDA and a test of it. The table of guide/any_cuda_file.md is made of these lines.
#pragma once
#include <cstdio>

struct feature {
  const char *name, *says;
  bool (*test)();
  feature *next;
  static feature *&first() {
    static feature *list = nullptr;
    return list;
  }
  feature(const char *name, const char *says, bool (*test)())
      : name(name), says(says), test(test), next(first()) {
    first() = this;
  }
};

// FEATURE(name, "what is supported", "what is not, and what is said then") { return it gives the right answer; }
#define FEATURE(name, supported, otherwise)                                                        \
  static bool test_##name();                                                                       \
  static feature feature_##name(#name, supported, test_##name);                                    \
  static bool test_##name()

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) {                                                                   \
      printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                       \
      return false;                                                                                \
    }                                                                                              \
  } while (0)
