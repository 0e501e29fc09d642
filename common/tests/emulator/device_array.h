// Device memory for a test, and a sentence that describes an error on the device.
#ifndef DEVICE_ARRAY_H
#define DEVICE_ARRAY_H

#include "error/error.h"

#include <cuda_runtime.h>
#include <vector>

template <typename T>
class device_array {
public:
  explicit device_array(size_t count) : count_(count) {
    cudaMalloc(&data_, count * sizeof(T));
    cudaMemset(data_, 0, count * sizeof(T));
  }
  explicit device_array(const std::vector<T> &values) : device_array(values.size()) {
    cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  device_array(const device_array &) = delete;
  ~device_array() { cudaFree(data_); }

  T *data() { return data_; }
  size_t count() const { return count_; }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    cudaMemcpy(static_cast<void *>(values.data()), data_, count_ * sizeof(T),
               cudaMemcpyDeviceToHost);
    return values;
  }

private:
  T *data_ = nullptr;
  size_t count_;
};

// Waits for the device. False when the launch or an earlier call failed.
inline bool device_finished(error_text *error, const char *what) {
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  return status == cudaSuccess ||
         fail(error, "%s: %s (%s)", what, cudaGetErrorName(status), cudaGetErrorString(status));
}

#endif
