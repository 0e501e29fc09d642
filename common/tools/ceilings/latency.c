// Prepares the chains for the latencies of the L2 cache and of memory, and checks where a chase has ended.
//
// Both latencies are means over the links of a chain. One thread follows it, on a multiprocessor that the GPU
// chooses. From another multiprocessor, or to another part of the cache, the way may be shorter or longer.
//
// An address must be translated before the load, and a multiprocessor keeps only the translations of a few pages, in
// its TLB. The driver maps large buffers in pages of 2 MB. The chain in the L2 cache is shorter than a page. The
// chain in memory goes through all links of one stretch of 2 MB before it goes on to the next one, so that among
// thousands of loads only a few wait for a translation too. A chain with each link in another page would measure
// those waits as well. A kernel that reads K and V from front to back hardly has them.
#include "ceilings/ceiling.h"

#include "numeric/random.h"
#include <stdlib.h>

enum {
  PAGE_LINKS = (2 << 20) / LINK_BYTES,
  L2_LINKS = 8192, // 1 MB
  // Loads of a launch, which take a few milliseconds. They are no multiple of the links of the chain, so a launch does
  // not end where it has begun.
  L2_LOADS = 20000,
  MEMORY_LOADS = 5000,
};

// Puts the links of each page into a random order, so that no prefetch can predict the next one.
static void shuffle(uint32_t *order, size_t links) {
  uint64_t state = 1;
  for (size_t page = 0; page < links; page += PAGE_LINKS) {
    const size_t count = links - page < PAGE_LINKS ? links - page : PAGE_LINKS;
    for (size_t i = 0; i < count; i++) {
      const size_t other = random_next(&state) % (i + 1);
      order[page + i] = order[page + other];
      order[page + other] = (uint32_t)(page + i);
    }
  }
}

// Makes a chain that goes through all links and back to the first one.
static bool prepare(ceiling_job *job, size_t links, size_t loads, error_text *error) {
  job->input_bytes = links * LINK_BYTES;
  job->output_bytes = 2 * sizeof(uint64_t);
  job->work = (double)loads;
  uint32_t *order = malloc(links * sizeof *order);
  uint64_t *chain = calloc(links, LINK_BYTES);
  bool good = ((order && chain) || fail(error, "not enough memory on the host for a chain")) &&
              job_allocate(&job->inputs[0], job->input_bytes, error);
  if (good) {
    const uint64_t first = (uint64_t)(uintptr_t)job->inputs[0];
    shuffle(order, links);
    for (size_t i = 0; i < links; i++)
      chain[order[i] * LINK_WORDS] = first + (uint64_t)order[(i + 1) % links] * LINK_BYTES;
    const uint64_t ends[2] = {0, first};
    good = device_ok(cudaMemcpy(job->inputs[0], chain, job->input_bytes, cudaMemcpyHostToDevice),
                     "copying a chain", error) &&
           job_upload(&job->output, ends, sizeof ends, error);
  }
  free(chain);
  free(order);
  return good;
}

bool l2_latency_prepare(ceiling_job *job, error_text *error) {
  return prepare(job, L2_LINKS, L2_LOADS, error);
}

// Each launch first loads all links at once, which takes microseconds, so that the chase finds them in the cache.
cudaError_t l2_latency_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return chase_launch(job->inputs[0], L2_LINKS, L2_LOADS, job->output, stream);
}

// The chain has eight times as many cache lines as the L2 cache. Each launch goes on where the one before it has
// ended, so it meets no link that is still in the cache.
bool memory_latency_prepare(ceiling_job *job, error_text *error) {
  const size_t pages = 8 * job->device->l2_bytes / PAGE_LINKS / LINK_BYTES;
  if (pages == 0) return fail(error, "the L2 cache of this GPU is too small, or not known");
  return prepare(job, pages * PAGE_LINKS, MEMORY_LOADS, error);
}

cudaError_t memory_latency_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return chase_launch(job->inputs[0], 0, MEMORY_LOADS, job->output, stream);
}

// Follows the last chase on the host.
bool latency_verify(const ceiling_job *job, error_text *error) {
  const uint64_t first = (uint64_t)(uintptr_t)job->inputs[0];
  uint64_t *ends = job_download(job, error);
  uint64_t *chain = malloc(job->input_bytes);
  bool good = ends && (chain || fail(error, "not enough memory on the host for a chain")) &&
              device_ok(cudaMemcpy(chain, job->inputs[0], job->input_bytes, cudaMemcpyDeviceToHost),
                        "copying a chain back", error);
  uint64_t link = good ? ends[0] : 0;
  for (double loads = 0; good && loads < job->work; loads++) {
    if (link - first >= job->input_bytes || (link - first) % LINK_BYTES != 0)
      good = fail(error, "the chase has left its chain");
    else
      link = chain[(link - first) / sizeof *chain];
  }
  if (good && link != ends[1])
    good =
        fail(error, "the chase has ended at another link than its %.0f loads lead to", job->work);
  free(chain);
  free(ends);
  return good;
}
