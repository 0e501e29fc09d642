// The kernels for the bandwidth of the L2 cache and for the latencies do all their work, and a result that is wrong by
// one word is found. The cache is a small one here, so that the emulator has little to do.
#include "ceilings/ceiling.h"
#include <criterion/criterion.h>
#include <stdlib.h>

static const device_info device = {.multiprocessors = 2, .l2_bytes = 1 << 20};

typedef struct {
  const char *name;
  bool (*prepare)(ceiling_job *job, error_text *error);
  cudaError_t (*launch)(void *job, size_t rotation, cudaStream_t stream);
  bool (*verify)(const ceiling_job *job, error_text *error);
} limit;

static const limit limits[] = {
    {"l2_read_bandwidth", l2_read_prepare, l2_read_run, l2_read_verify},
    {"l2_latency", l2_latency_prepare, l2_latency_run, latency_verify},
    {"memory_latency", memory_latency_prepare, memory_latency_run, latency_verify},
};
enum { LIMITS = sizeof limits / sizeof *limits };

static ceiling_job prepared(const limit *one) {
  error_text error;
  ceiling_job job = {.device = &device};
  cr_assert(one->prepare(&job, &error), "%s: %s", one->name, error.text);
  return job;
}

static void launch(const limit *one, ceiling_job *job) {
  cr_assert_eq(one->launch(job, 0, NULL), cudaSuccess, "%s", one->name);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess, "%s", one->name);
}

// Returns a word of 64 bits of the job's output, and puts another one in its place.
static uint64_t replace(const ceiling_job *job, size_t word, uint64_t other) {
  uint64_t *place = (uint64_t *)job->output + word, before = 0;
  cr_assert_eq(cudaMemcpy(&before, place, sizeof before, cudaMemcpyDeviceToHost), cudaSuccess);
  cr_assert_eq(cudaMemcpy(place, &other, sizeof other, cudaMemcpyHostToDevice), cudaSuccess);
  return before;
}

// Launches go on where the one before has ended, so the third one is checked as well.
Test(memory_limits, each_launch_does_its_work) {
  for (size_t i = 0; i < LIMITS; i++) {
    error_text error;
    ceiling_job job = prepared(&limits[i]);
    for (int times = 0; times < 3; times++) {
      launch(&limits[i], &job);
      cr_expect(limits[i].verify(&job, &error), "%s: %s", limits[i].name, error.text);
    }
    job_free(&job);
  }
}

Test(memory_limits, a_wrong_result_is_found) {
  for (size_t i = 0; i < LIMITS; i++) {
    error_text error;
    ceiling_job job = prepared(&limits[i]);
    cr_expect_not(limits[i].verify(&job, &error), "%s was not launched", limits[i].name);
    launch(&limits[i], &job);
    for (size_t word = 0; word < job.output_bytes / sizeof(uint64_t); word++) {
      const uint64_t right = replace(&job, word, 0);
      cr_expect_not(limits[i].verify(&job, &error), "%s: word %zu is 0", limits[i].name, word);
      replace(&job, word, right + LINK_BYTES);
      cr_expect_not(limits[i].verify(&job, &error), "%s: word %zu is not right", limits[i].name,
                    word);
      replace(&job, word, right);
    }
    cr_expect(limits[i].verify(&job, &error), "%s: %s", limits[i].name, error.text);
    job_free(&job);
  }
}

// A launch that left one load out, or one round, would end elsewhere.
Test(memory_limits, the_work_is_what_was_done) {
  for (size_t i = 1; i < LIMITS; i++) {
    error_text error;
    ceiling_job job = prepared(&limits[i]);
    launch(&limits[i], &job);
    job.work += 1;
    cr_expect_not(limits[i].verify(&job, &error), "%s", limits[i].name);
    job_free(&job);
  }
  error_text error;
  ceiling_job job = prepared(&limits[0]);
  launch(&limits[0], &job);
  cr_expect_eq(job.work, (double)job.blocks * L2_ROUNDS * L2_CHUNK_BYTES);
  cr_assert_eq(
      l2_read_launch(job.inputs[0], job.input_bytes - L2_CHUNK_BYTES, job.output, job.blocks, NULL),
      cudaSuccess);
  cr_expect_not(limits[0].verify(&job, &error), "a chunk was never read");
  job_free(&job);
}

// The chain goes through all links before it comes back to the first one, and through all of a page of 2 MB before the
// next page.
Test(memory_limits, a_chain_is_one_circle) {
  for (size_t i = 1; i < LIMITS; i++) {
    ceiling_job job = prepared(&limits[i]);
    const size_t links = job.input_bytes / LINK_BYTES, page_links = (2 << 20) / LINK_BYTES;
    uint64_t *chain = malloc(job.input_bytes);
    bool *met = calloc(links, sizeof *met);
    cr_assert(chain && met);
    cr_assert_eq(cudaMemcpy(chain, job.inputs[0], job.input_bytes, cudaMemcpyDeviceToHost),
                 cudaSuccess);
    size_t link = 0, pages = 0, in_order = 0;
    for (size_t n = 0; n < links; n++) {
      cr_assert(link < links && !met[link], "%s: link %zu after %zu", limits[i].name, link, n);
      met[link] = true;
      const size_t next =
          (chain[link * LINK_WORDS] - (uint64_t)(uintptr_t)job.inputs[0]) / LINK_BYTES;
      pages += next / page_links != link / page_links;
      in_order += next == link + 1;
      link = next;
    }
    cr_expect_eq(link, 0);
    cr_expect_leq(pages, (links + page_links - 1) / page_links, "%s", limits[i].name);
    cr_expect_lt(in_order, 100, "%s: the order is random", limits[i].name);
    free(met);
    free(chain);
    job_free(&job);
  }
}

Test(memory_limits, a_cache_of_unknown_size_is_an_error) {
  const device_info unknown = {.multiprocessors = 2};
  ceiling_job job = {.device = &unknown};
  error_text error;
  cr_expect_not(l2_read_prepare(&job, &error));
  cr_expect_not(memory_latency_prepare(&job, &error));
  cr_expect_null(job.inputs[0]);
}
