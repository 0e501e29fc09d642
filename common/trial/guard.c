#include "trial/guard.h"

#include "check/check.h"
#include "device/device.h"
#include "numeric/poison.h"

enum { ZONE = 4096, ZONE_BYTE = 0xa5 };

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
  return bare || device_ok(cudaMemset(buffer->zone, ZONE_BYTE, bytes + 2 * ZONE),
                           "filling a red zone", error);
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
  unsigned char zone[ZONE];
  const char *const ends[2] = {buffer->zone, (const char *)buffer->data + buffer->bytes};
  for (int side = 0; side < 2; side++) {
    if (!device_ok(cudaMemcpy(zone, ends[side], ZONE, cudaMemcpyDeviceToHost), "reading a red zone",
                   error)) {
      return false;
    }
    for (size_t distance = 0; distance < ZONE; distance++) { // the nearest byte first
      if (zone[side == 0 ? ZONE - 1 - distance : distance] == ZONE_BYTE) continue;
      return fail(error, "something was written outside %s: %zu byte%s %s", buffer->name,
                  distance + 1, distance ? "s" : "",
                  side == 0 ? "before its start" : "past its end");
    }
  }
  return true;
}
