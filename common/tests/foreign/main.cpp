// foreign [NAME]: runs all features, or the one of that name, and prints a line for each. Exit status 1 when one gives a
// wrong answer, 2 for a name that no feature has. After a fault a GPU's context answers nothing, so what is to be told
// of every feature is asked in a process each.
#include "feature.h"

#include <cstring>
#include <cuda_runtime.h>

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : nullptr;
  int run = 0, wrong = 0;
  for (feature *it = feature::first(); it != nullptr; it = it->next) {
    if (only != nullptr && strcmp(only, it->name) != 0) continue;
    run++;
    const bool right = it->test() && cudaDeviceSynchronize() == cudaSuccess;
    printf("%-7s %s: %s\n", right ? "ok" : "WRONG", it->name, it->says);
    wrong += !right;
  }
  if (run == 0) {
    fprintf(stderr, "foreign: no feature is called \"%s\".\n", only);
    return 2;
  }
  return wrong > 0;
}
