// Runs all features and prints a line for each. Exit status 1 when one gives a wrong answer.
#include "feature.h"

#include <cuda_runtime.h>

int main() {
  int wrong = 0;
  for (feature *it = feature::first(); it != nullptr; it = it->next) {
    const bool right = it->test() && cudaDeviceSynchronize() == cudaSuccess;
    printf("%-7s %s: %s\n", right ? "ok" : "WRONG", it->name, it->says);
    wrong += !right;
  }
  return wrong > 0;
}
