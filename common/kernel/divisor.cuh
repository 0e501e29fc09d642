// Whole numbers divided by a number that the host knows before the launch.
#ifndef DIVISOR_CUH
#define DIVISOR_CUH
#include <cuda_runtime.h>
#include <limits.h>

// A number, at least 1, that whole numbers are divided by, none of which is negative. A GPU has no instruction for such
// a division, and needs about twenty others, most of which wait for the one before. A multiplication by an inverse that
// the host has computed needs only a few. The quotients are exact: Granlund and Montgomery, "Division by Invariant
// Integers using Multiplication" (1994), section 4.
struct divisor {
  int number;
  unsigned inverse; // the first whole number above 2^(31 + shift) / number
  int shift;        // the least one for which number <= 2^shift

  static divisor of(int number) {
    int shift = 0;
    while (1LL << shift < number) shift++;
    return {number, (unsigned)((1ULL << (31 + shift)) / number + 1), shift};
  }
  __host__ __device__ operator int() const { return number; }
};
__device__ __forceinline__ int operator/(int n, const divisor &d) {
  return (int)(__umulhi(2u * n, d.inverse) >> d.shift);
}
__device__ __forceinline__ int operator%(int n, const divisor &d) { return n - n / d * d.number; }

// The same for dividends that need not fit into an int. n / d is exact as long as n d < 2^63.
struct long_divisor {
  int number;
  unsigned long long inverse; // 2^63 / number, rounded up

  static long_divisor of(int number) {
    return {number, (unsigned long long)LLONG_MAX / number + 1};
  }
  __host__ __device__ operator int() const { return number; }
};
template <typename T>
__device__ __forceinline__ T operator/(T n, const long_divisor &d) {
  return (T)__umul64hi(2ULL * n, d.inverse);
}
template <typename T>
__device__ __forceinline__ T operator%(T n, const long_divisor &d) {
  return n - n / d * d.number;
}

#endif
