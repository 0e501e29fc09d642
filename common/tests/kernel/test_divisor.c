// Quotients and remainders by a divisor's inverses, where a rounded inverse would be wrong first: beside the multiples of
// the divisor, and at the largest numbers.
#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdlib.h>

cudaError_t divide(const int *n, int count, int number, int *results);

enum { NUMBERS = 4096 };

// The dividends of one divisor: small ones, those beside its multiples, and the largest.
static void fill(int n[NUMBERS], int number, unsigned *seed) {
  for (int i = 0; i < NUMBERS; i++) {
    const int most = INT_MAX / number;
    const int times = i % 2 ? most - i / 4 % (most / 2 + 1) : rand_r(seed) % most + 1;
    const long long beside = (long long)times * number + (i / 2 % 3 - 1);
    n[i] = i < 16 ? i : i < 32 ? INT_MAX - (i - 16) : (int)(beside > INT_MAX ? INT_MAX : beside);
  }
}

static void expect_right(int number, unsigned *seed) {
  static int n[NUMBERS], found[NUMBERS][4];
  int *n_device = NULL, *found_device = NULL;
  fill(n, number, seed);
  cr_assert_eq(cudaMalloc((void **)&n_device, sizeof n), cudaSuccess);
  cr_assert_eq(cudaMalloc((void **)&found_device, sizeof found), cudaSuccess);
  cr_assert_eq(cudaMemcpy(n_device, n, sizeof n, cudaMemcpyHostToDevice), cudaSuccess);
  cr_assert_eq(divide(n_device, NUMBERS, number, found_device), cudaSuccess);
  cr_assert_eq(cudaMemcpy(found, found_device, sizeof found, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < NUMBERS; i++) {
    const long long wide = n[i] * 2LL + 1;
    cr_expect(found[i][0] == n[i] / number && found[i][1] == n[i] % number, "%d by %d: %d, rest %d",
              n[i], number, found[i][0], found[i][1]);
    cr_expect(found[i][2] == wide / number / 2 && found[i][3] == wide % number,
              "%lld by %d: %d times 2, rest %d", wide, number, found[i][2], found[i][3]);
  }
  cudaFree(n_device);
  cudaFree(found_device);
}

Test(divisor, quotients_are_exact) {
  unsigned seed = 1;
  for (int number = 1; number <= 40; number++) expect_right(number, &seed);
  for (int shift = 6; shift < 31; shift++)
    for (int beside = -1; beside <= 1; beside++) expect_right((1 << shift) + beside, &seed);
  for (int i = 0; i < 100; i++) expect_right(rand_r(&seed) % INT_MAX + 1, &seed);
  expect_right(INT_MAX - 1, &seed);
  expect_right(INT_MAX, &seed);
}
