#include "trial/guard.h"

#include "check/check.h"
#include "device/device.h"
#include "numeric/poison.h"

enum { ZONE = 4096, FRESH_BYTE = 0xa5 };

static bool fill_zones(const guarded_buffer *buffer, error_text *error) {
  char *const ends[2] = {buffer->zone, (char *)buffer->data + buffer->bytes};
  char zone[ZONE];
  poison_fill(zone, ZONE, POISON_OUTSIDE);
  for (int side = 0; side < 2; side++) {
    if (!device_ok(cudaMemcpy(ends[side], zone, ZONE, cudaMemcpyHostToDevice), "filling a red zone",
                   error)) {
      return false;
    }
  }
  return true;
}

bool guard_allocate(guarded_buffer *buffer, const char *name, size_t bytes, bool bare,
                    error_text *error) {
  *buffer = (guarded_buffer){.name = name, .bytes = bytes, .zone_bytes = bare ? 0 : ZONE};
  if (bytes == 0) return true;
  if (bytes > SIZE_MAX / 2)
    return fail(error,
                "%s would have %.4g MB, more than any memory: take a smaller shape, or look for "
                "a negative number among those from which the size is computed",
                name, (double)bytes * 1e-6);
  const cudaError_t status = cudaMalloc(&buffer->zone, bytes + 2 * buffer->zone_bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError(); // the failure is reported here and must not appear in a later call
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    return fail(error,
                "%s needs %.4g MB of device memory, and %.4g MB are free: take a smaller shape",
                name, (double)bytes * 1e-6, (double)free_bytes * 1e-6);
  }
  if (!device_ok(status, "allocating device memory", error)) return false;
  buffer->data = (char *)buffer->zone + buffer->zone_bytes;
  // The memory between the zones is filled as well: what a step has left in memory that it freed is not found again.
  return bare ||
         (device_ok(cudaMemset(buffer->data, FRESH_BYTE, bytes), "filling a buffer", error) &&
          fill_zones(buffer, error));
}

void guard_free(guarded_buffer *buffer) {
  if (buffer->zone) cudaFree(buffer->zone);
  *buffer = (guarded_buffer){0};
}

bool guard_poison(const guarded_buffer *buffer, error_text *error) {
  if (buffer->bytes == 0 || buffer->zone_bytes == 0) return true;
  return device_ok(cudaMemset(buffer->data, CHECK_POISON, buffer->bytes), "poisoning a buffer",
                   error);
}

bool guard_poison_workspace(const guarded_buffer *buffer, error_text *error) {
  if (buffer->zone_bytes == 0) return true;
  uint16_t pattern[2048];
  poison_fill(pattern, sizeof pattern, POISON_DEVICE);
  for (size_t filled = 0; filled < buffer->bytes;) { // each copy doubles what is filled
    const void *source = filled == 0 ? (const void *)pattern : buffer->data;
    const size_t ready = filled == 0 ? sizeof pattern : filled, left = buffer->bytes - filled;
    const size_t count = left < ready ? left : ready;
    if (!device_ok(cudaMemcpy((char *)buffer->data + filled, source, count,
                              filled == 0 ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice),
                   "poisoning the workspace", error)) {
      return false;
    }
    filled += count;
  }
  return true;
}

bool guard_intact(const guarded_buffer *buffer, error_text *error) {
  if (buffer->bytes == 0 || buffer->zone_bytes == 0) return true;
  char zone[ZONE], expected[ZONE];
  poison_fill(expected, ZONE, POISON_OUTSIDE);
  const char *const ends[2] = {buffer->zone, (const char *)buffer->data + buffer->bytes};
  for (int side = 0; side < 2; side++) {
    if (!device_ok(cudaMemcpy(zone, ends[side], ZONE, cudaMemcpyDeviceToHost), "reading a red zone",
                   error)) {
      return false;
    }
    for (size_t distance = 0; distance < ZONE; distance++) { // the nearest byte first
      const size_t at = side == 0 ? ZONE - 1 - distance : distance;
      if (zone[at] == expected[at]) continue;
      return fail(error, "something was written outside %s: %zu byte%s %s", buffer->name,
                  distance + 1, distance ? "s" : "",
                  side == 0 ? "before its start" : "past its end");
    }
  }
  return true;
}
