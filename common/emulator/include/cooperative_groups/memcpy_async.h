// Stand-in for CUDA's <cooperative_groups/memcpy_async.h>: a group copies from global to shared memory, each thread a
// part, and waits for it together.
#ifndef COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#include "../detail/own_letters.h"

#include "../cooperative_groups.h"
#include "../cuda/detail/copy.h"

namespace cooperative_groups {

template <typename Group, typename Shape>
void memcpy_async(const Group &group, void *destination, const void *source, const Shape &shape,
                  EMULATOR_CALL_SITE) {
  emulator::copy_by(group, destination, source, static_cast<size_t>(shape), file, line);
  __pipeline_commit(file, line);
}
// Counts of elements of both sides; the smaller one is copied.
template <typename Group, typename T, typename To, typename From>
void memcpy_async(const Group &group, T *destination, const To &to, const T *source,
                  const From &from, EMULATOR_CALL_SITE) {
  const size_t count = static_cast<size_t>(to) < static_cast<size_t>(from)
                           ? static_cast<size_t>(to)
                           : static_cast<size_t>(from);
  emulator::copy_by(group, destination, source, count * sizeof(T), file, line);
  __pipeline_commit(file, line);
}

template <typename Group>
void wait(const Group &group, EMULATOR_CALL_SITE) {
  __pipeline_wait_prior(0, file, line);
  group.sync(file, line);
}
template <unsigned Prior, typename Group>
void wait_prior(const Group &group, EMULATOR_CALL_SITE) {
  __pipeline_wait_prior(Prior, file, line);
  group.sync(file, line);
}

} // namespace cooperative_groups

#include "../detail/own_letters_end.h"

#endif
