#define _GNU_SOURCE
#include "async_copy.h"

#include "address_space.h"
#include "fault.h"
#include "numeric/poison.h"
#include "observer.h"
#include "plural.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Faults -------------------------------------------------------------------------------------

// Reports a fault of one copy: `what` begins the title, `detail` follows the thread.
__attribute__((noreturn)) static void copy_fault(cudaError_t error, const char *what,
                                                 const char *detail, const emulator_site *site) {
  worker *worker = current_worker;
  if (fault_report_begin(worker, error)) {
    const uint3 thread = worker->running->seen.thread_index;
    const uint3 block = worker->block.block_index;
    fault_report_title("%s", what);
    fault_report_line("at %s in %s:%d", worker->launch->request->name, site->file, site->line);
    fault_report_source(site->file, site->line);
    fault_report_line("by thread (%u,%u,%u) in block (%u,%u,%u): %s", thread.x, thread.y, thread.z,
                      block.x, block.y, block.z, detail);
    fault_report_end(worker, error);
  }
  fault_leave(worker);
}

typedef struct {
  char text[256];
} sentence;

__attribute__((format(printf, 1, 2))) static sentence say(const char *format, ...) {
  sentence out;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out.text, sizeof out.text, format, arguments);
  va_end(arguments);
  return out;
}

static void check_sizes(size_t bytes, size_t zeros, const emulator_site *site) {
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    copy_fault(cudaErrorLaunchFailure, say("Invalid size of %s", site->operation).text,
               say("%zu byte%s, but one copy moves 4, 8 or 16", bytes, plural(bytes)).text, site);
  }
  if (zeros > bytes) {
    copy_fault(cudaErrorLaunchFailure, say("Invalid zfill of %s", site->operation).text,
               say("%zu bytes of zeros do not fit in a copy of %zu", zeros, bytes).text, site);
  }
}

// `access` is "write" or "read".
static void check_alignment(const void *address, const char *access, size_t bytes,
                            const emulator_site *site) {
  if ((uintptr_t)address % bytes == 0) return;
  worker *worker = current_worker;
  const char *space = address_space_name(address_space_of(worker, address));
  const address_text place = address_describe(worker, address);
  copy_fault(cudaErrorMisalignedAddress,
             say("Invalid %s %s of size %zu bytes", space, access, bytes).text,
             say("%s is not a multiple of %zu", place.text, bytes).text, site);
}

static void check_destination(const char *destination, size_t bytes, const emulator_site *site) {
  const worker *worker = current_worker;
  const address_space space = address_space_of(worker, destination);
  const struct worker *owner =
      worker->cluster->size > 1 ? cluster_owner(worker, destination) : NULL;
  if (owner != NULL && owner != worker) {
    const uint3 block = owner->block.block_index;
    copy_fault(
        cudaErrorIllegalAddress,
        say("Invalid destination of %s: it must be in the block's own shared memory",
            site->operation)
            .text,
        say("it is in that of block (%u,%u,%u) of the cluster", block.x, block.y, block.z).text,
        site);
  }
  if (space == ADDRESS_STATIC_SHARED) return;
  if (space != ADDRESS_DYNAMIC_SHARED) {
    copy_fault(
        cudaErrorIllegalAddress,
        say("Invalid destination of %s: it must be in shared memory", site->operation).text,
        say("it is %s (%s)", address_describe(worker, destination).text, address_space_name(space))
            .text,
        site);
  }
  const size_t asked = worker->launch->request->dynamic_shared_bytes;
  const size_t end = (size_t)(destination - (char *)worker->block.dynamic_shared) + bytes;
  if (end > asked) {
    copy_fault(cudaErrorIllegalAddress,
               say("Invalid __shared__ write of size %zu bytes", bytes).text,
               say("%zu byte%s past the end of dynamic shared memory (%zu byte%s asked for at the "
                   "launch)",
                   end - asked, plural(end - asked), asked, plural(asked))
                   .text,
               site);
  }
}

// A source that cannot be read is reported here, where the copy starts, as on a GPU.
static void check_source(const char *source, size_t bytes, const emulator_site *site) {
  worker *worker = current_worker;
  if (bytes == 0) return;
  const address_space space = address_space_of(worker, source);
  if (space != ADDRESS_GLOBAL) {
    copy_fault(
        cudaErrorIllegalAddress,
        say("Invalid source of %s: it must be in global memory", site->operation).text,
        say("it is %s (%s)", address_describe(worker, source).text, address_space_name(space)).text,
        site);
  }
  worker->accessing = site;
  (void)*(const volatile char *)source;
  (void)*(const volatile char *)(source + bytes - 1);
  worker->accessing = NULL;
}

// ---- Copies -------------------------------------------------------------------------------------

static async_copy *add(async_copies *copies) {
  if (copies->count == copies->room) {
    const unsigned room = copies->room > 0 ? 2 * copies->room : 32;
    async_copy *larger = realloc(copies->pending, room * sizeof *larger);
    if (larger == NULL) {
      emulator_fault(cudaErrorLaunchOutOfResources,
                     "No memory for %u copies that a thread has not waited for", room);
    }
    copies->pending = larger;
    copies->room = room;
  }
  return &copies->pending[copies->count++];
}

void emulator_async_copy(void *destination, const void *source, size_t bytes, size_t zeros,
                         const emulator_site *site) {
  check_sizes(bytes, zeros, site);
  check_alignment(destination, "write", bytes, site);
  check_destination(destination, bytes, site);
  check_alignment(source, "read", bytes, site);
  check_source(source, bytes - zeros, site);
  worker *worker = current_worker;
  async_copies *copies = &worker->running->copies;
  async_copy *copy = add(copies);
  *copy = (async_copy){.destination = destination,
                       .source = source,
                       .bytes = (unsigned)bytes,
                       .zeros = (unsigned)zeros,
                       .group = copies->committed,
                       .site = *site};
  observer_async_start(worker, copy);
  observer_library_access(worker, worker->running, destination, bytes, OBSERVED_ASYNC_WRITE, site);
  poison_fill(destination, bytes, POISON_COPY);
}

void emulator_async_commit(const emulator_site *site) {
  history_did(current_worker, site, NULL);
  observer_async_commit(current_worker);
  current_worker->running->copies.committed++;
}

static void perform(worker *worker, const async_copy *copy) {
  const unsigned copied = copy->bytes - copy->zeros;
  observer_async_done(worker, copy);
  if (copied > 0) memcpy(copy->destination, copy->source, copied); // else the source may be NULL
  memset((char *)copy->destination + copied, 0, copy->zeros);
  worker->counts.async_copy_bytes += copied;
}

void emulator_async_wait(size_t newest, const emulator_site *site) {
  worker *worker = current_worker;
  history_did(worker, site, NULL);
  async_copies *copies = &worker->running->copies;
  observer_async_wait(worker, newest);
  if (newest >= copies->committed) return;
  const uint64_t groups = copies->committed - newest; // groups that must be complete
  unsigned done = 0;
  while (done < copies->count && copies->pending[done].group < groups) {
    worker->accessing = &copies->pending[done].site;
    perform(worker, &copies->pending[done++]);
  }
  worker->accessing = NULL;
  copies->count -= done;
  if (copies->count > 0)
    memmove(copies->pending, copies->pending + done, copies->count * sizeof *copies->pending);
}

void async_copies_begin(thread *thread) {
  thread->copies.count = 0;
  thread->copies.committed = 0;
}

void async_copies_end(worker *worker, thread *thread) {
  worker->counts.async_copies_dropped += thread->copies.count;
}
