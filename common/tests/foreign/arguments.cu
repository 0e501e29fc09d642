// The arguments of a launch, which are objects with destructors.
#include "feature.h"

// On the host it counts; on a GPU it is its bytes.
struct counted {
  static int copies, ends;
  int *number;
  explicit counted(int *number) : number(number) {}
  counted(const counted &other) : number(other.number) { copies++; }
  ~counted() { ends++; }
};
int counted::copies, counted::ends;

__global__ void take(counted given, int *out) {
  out[threadIdx.x] = *given.number;
  given.number = nullptr; // this thread's own
}

template <typename T>
__global__ void take_after(T first, counted given, T *out) {
  out[threadIdx.x] = *given.number + first;
}

FEATURE(arguments_with_destructors,
        "kernel arguments of classes that have copy constructors and destructors: these run on the "
        "host alone, once for a launch, and the kernel gets the bytes",
        "a launch of a template that leaves out default arguments: they run in each thread") {
  const int threads = 64;
  int *number, *out;
  CHECK(cudaMallocManaged(&number, sizeof *number));
  CHECK(cudaMallocManaged(&out, threads * sizeof *out));
  *number = 7;
  {
    const counted given(number);
    counted::copies = counted::ends = 0;
    take<<<1, threads>>>(given, out);
    CHECK(cudaDeviceSynchronize());
    if (counted::copies != 1 || counted::ends != 1 || out[0] != 7 || out[threads - 1] != 7)
      return false;
    take_after<<<1, threads>>>(3, given, out);
    CHECK(cudaDeviceSynchronize());
    if (counted::copies != 2 || counted::ends != 2 || out[threads - 1] != 10) return false;
    void *arguments[] = {(void *)&given, &out};
    CHECK(cudaLaunchKernel((void *)take, dim3(1), dim3(threads), arguments, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaFree(number));
  return counted::copies == 2 && counted::ends == 3 && out[0] == 7; // the last is `given` itself
}
