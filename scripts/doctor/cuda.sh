# shellcheck shell=bash
# Looks at the CUDA toolkit, the driver and the GPU. To be sourced by scripts/doctor.sh, whose rows they print.

check_tools_of_cuda() {
  local tool path
  for tool in compute-sanitizer nvdisasm ncu; do
    path=$(command -v "$tool" || find "$home/bin" -maxdepth 1 -name "$tool" 2>/dev/null)
    if [[ -n $path ]]; then
      row ok "$tool" "$path"
    else
      case $tool in
      compute-sanitizer) row optional $tool - "part of the CUDA toolkit; without it, use DEVICE=cpu to sanitize" ;;
      nvdisasm) row optional $tool - "part of the CUDA toolkit, or make deps-sass; without it, no machine code to read (sass)" ;;
      ncu) row optional $tool - "Nsight Compute; without it, no hardware counters (ncu)" ;;
      esac
      lacking+=" $tool"
    fi
  done
}
lacking=

# Looks for the libraries that steps for several GPUs need on GPUs, for NCCL in the places of make/config.mk.
check_libraries_of_groups() {
  local place places=(.deps/nccl "$home" /usr /usr/local) header=
  if [[ -n ${NCCL_HOME-} ]]; then places=("$NCCL_HOME"); fi
  for place in "${places[@]}"; do
    if [[ -f $place/include/nccl.h ]]; then
      header=$place/include/nccl.h
      break
    fi
  done
  if [[ -n $header ]]; then
    row ok NCCL "$(awk '/^#define NCCL_(MAJOR|MINOR|PATCH) / { printf "%s%d", dot, $3; dot = "." }' "$header")  $place"
  else
    row optional NCCL - "make deps-nccl; without it, no steps for several GPUs on GPUs (21 to 23)"
  fi
  if command -v mpicc >/dev/null; then
    row ok MPI "$(command -v mpicc)"
  else
    row optional MPI - "openmpi-bin and libopenmpi-dev (Debian); only for one process on each GPU (--mpi of steps 21 to 23)"
  fi
}

# Prints the newest CUDA that the driver can run, such as 12.4, if its library can be loaded.
driver_cuda() {
  compiles gcc "-ldl -Wl,--no-as-needed" c <<'END' && timeout 2 "$scratch/probe"
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  int version = 0;
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  int (*get_version)(int *) = library ? (int (*)(int *))dlsym(library, "cuDriverGetVersion") : 0;
  if (!get_version || get_version(&version)) return 1;
  return printf("%d.%d\n", version / 1000, version % 1000 / 10) < 0;
}
END
}

# Compiles and runs one small kernel; leaves what went wrong in $scratch/smoke.
kernel_runs() {
  cat >"$scratch/smoke.cu" <<'END'
#include <cstdio>
__global__ void add_one(int *value) { *value += 1; }
int main() {
  int host = 41, *device = nullptr;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
  add_one<<<1, 1>>>(device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  puts(cudaGetErrorString(cudaGetLastError()));
  return host != 42;
}
END
  timeout "$(seconds_left 4.5)" "$home/bin/nvcc" -arch="$1" -o "$scratch/smoke.out" "$scratch/smoke.cu" \
    >"$scratch/smoke" 2>&1 && timeout "$(seconds_left 4.8)" "$scratch/smoke.out" >"$scratch/smoke" 2>&1
}

# newer A B: whether version A comes after version B.
newer() { [[ $1 != "$2" && $(printf '%s\n' "$1" "$2" | sort -V | tail -n 1) == "$1" ]]; }

check_driver() {
  local driver
  driver=$(driver_cuda)
  if [[ -z $driver ]]; then
    row optional "NVIDIA driver" "libcuda.so.1 cannot be loaded" \
      "a GPU needs NVIDIA's driver; a container needs --gpus all"
  elif [[ -n $toolkit ]] && newer "${toolkit%%.*}" "${driver%%.*}"; then
    row old "NVIDIA driver" "${driver_version:+$driver_version }runs CUDA up to $driver, the toolkit is $toolkit" \
      "install a newer driver, or the CUDA toolkit $driver"
  elif [[ -n $toolkit ]] && newer "$toolkit" "$driver"; then
    row ok "NVIDIA driver" "${driver_version:+$driver_version }runs CUDA up to $driver, the toolkit is $toolkit" \
      "enough for code compiled for this very GPU, as the lab's is"
  else
    row ok "NVIDIA driver" "${driver_version:+$driver_version }runs CUDA up to $driver"
  fi
}

# Says why nvcc compiles no code for the GPU `sm`, if it says so itself.
check_known_to_nvcc() {
  local advice="a newer CUDA toolkit"
  if [[ -z $sm ]] || ! grep -q 'Unsupported gpu architecture' "$scratch/smoke"; then return 1; fi
  if ((10#${sm//[!0-9]/} < 75)); then advice="the CUDA toolkit 12.9, which is the last one for this GPU"; fi
  row old "a kernel" "CUDA $toolkit does not compile for $sm" "install $advice; until then, add DEVICE=cpu to every make"
}

# Fills `device`, `why` and, with a GPU, `sm`. `no_gpu` says why nothing can run on a GPU, and is empty if it can.
check_cuda() {
  local toolkit='' name capability total free mig driver_version=''
  device=$(quick_device)
  home=$(cuda_home)
  sm=
  no_gpu=
  if [[ $device == cpu ]]; then no_gpu="no GPU"; fi
  if [[ -n ${CUDA_HOME-} && ! -x $CUDA_HOME/bin/nvcc ]]; then
    row optional CUDA_HOME "$CUDA_HOME" "has no bin/nvcc, so it is not used"
  fi
  if [[ -n $home ]]; then
    toolkit=$("$home/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    if [[ -n $toolkit ]] && newer 12.5 "$toolkit"; then
      row old nvcc "$toolkit  $home/bin/nvcc" "steps 10 to 17, 21 to 24 and 26, for Hopper GPUs, need CUDA 12.5 or newer"
    else
      row ok nvcc "$toolkit  $home/bin/nvcc"
    fi
    check_tools_of_cuda
    check_libraries_of_groups
  else
    row optional nvcc - "the CUDA toolkit: https://developer.nvidia.com/cuda-downloads"
  fi
  wait "$gpus_pid"
  while IFS=, read -r name capability total free driver_version mig; do
    # A GPU that has no MIG says [N/A].
    if [[ $mig == *'['* ]]; then mig=; fi
    row ok GPU "$name, compute capability$capability,$total MiB,$free MiB free${mig:+, MIG${mig,,}}"
    sm=${sm:-$(architecture "${capability# }")}
  done < <(grep -E ', [0-9]+\.[0-9]+,' "$scratch/gpus")
  if [[ -z $sm ]]; then
    row optional GPU "none found" "${CUDA_VISIBLE_DEVICES+CUDA_VISIBLE_DEVICES is \"$CUDA_VISIBLE_DEVICES\". }$(
      if has_gpu_node && ! command -v nvidia-smi >/dev/null; then echo "nvidia-smi is not in PATH; it comes with the driver"; fi
      cat "$scratch/gpus" "$scratch/gpus.error" | head -n 1)"
  fi
  driver_version=$(grep -E ', [0-9]+\.[0-9]+,' "$scratch/gpus" | cut -d , -f 5 | head -n 1)
  driver_version=${driver_version# }
  check_driver
  if [[ $device == cpu ]]; then
    why="there is no $(if [[ -z $home ]]; then echo nvcc; else echo "GPU that programs may use"; fi)"
  elif kernel_runs "${sm:-native}"; then
    row ok "a kernel" "compiled for ${sm:-native}, ran, gave the right result"
    why="a kernel compiled for ${sm:-native} ran on the GPU"
    if [[ -z $sm ]]; then why+=", and nvidia-smi does not tell what GPU it is: give ARCH, such as ARCH=sm_90a"; fi
  elif (($? == 124)); then
    row optional "a kernel" "was not compiled and run in the time there is" "try again: the second time is faster"
    why="nvcc and a GPU are here"
  else
    check_known_to_nvcc || row old "a kernel" "does not run: $(tail -n 1 "$scratch/smoke")" \
      "until that is repaired, add DEVICE=cpu to every make"
    no_gpu="no kernel runs on the GPU"
    why="nvcc and a GPU are here, though a kernel does not run: add DEVICE=cpu"
  fi
}
