#!/usr/bin/env bash
# Looks at this machine before anything is built: what the lab finds, what is missing and how to get
# it, and where the lab will run. Changes nothing, and takes less than five seconds.
#
#   scripts/doctor.sh               the whole table
#   scripts/doctor.sh --device      only `gpu` or `cpu`: where the lab will run
#   scripts/doctor.sh --arch        only the architecture to compile for, such as sm_90a; nothing
#                                   without a GPU
#   scripts/doctor.sh --cuda-home   only the folder of the CUDA toolkit; nothing without one
#
# Exit status: 0 when the lab can run, if only on the CPU; 2 when something required is missing.
export LC_ALL=C
set -u
started=${EPOCHREALTIME/[.,]/}
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=/dev/null
if [[ -r .deps/env.sh ]]; then . .deps/env.sh; fi

# ---------------------------------------------------------------------------- CUDA, quickly

cuda_home() {
  local nvcc
  nvcc=$(command -v nvcc) && nvcc=$(readlink -f "$nvcc")
  for nvcc in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$nvcc" /usr/local/cuda/bin/nvcc; do
    if [[ -n $nvcc && -x $nvcc ]]; then
      echo "${nvcc%/bin/nvcc}"
      return
    fi
  done
}

# The driver's device nodes: one a GPU, or /dev/dxg under Windows' Linux.
has_gpu_node() {
  local node
  if [[ ${CUDA_VISIBLE_DEVICES-0} == '' || ${CUDA_VISIBLE_DEVICES-0} == -1 ]]; then return 1; fi
  for node in /dev/nvidia[0-9]* /dev/dxg; do
    if [[ -c $node ]]; then return 0; fi
  done
  return 1
}

quick_device() { if [[ -n $(cuda_home) ]] && has_gpu_node; then echo gpu; else echo cpu; fi; }

# Prints nvidia-smi's answer for each GPU that programs may use, or with CUDA_VISIBLE_DEVICES for the first.
query_gpus() {
  local first=${CUDA_VISIBLE_DEVICES-}
  first=${first%%,*}
  if ! has_gpu_node || ! command -v nvidia-smi >/dev/null; then return; fi
  # A MIG slice has the properties of its GPU, for which nvidia-smi wants no slice's name.
  if [[ $first == MIG-* ]]; then first=; fi
  timeout 3 nvidia-smi ${first:+-i "$first"} --query-gpu="$1" --format=csv,noheader,nounits
}

# 9.0 -> sm_90a: the `a` opens wgmma and TMA on 9.0, tcgen05 on 10.0.
architecture() {
  local compute_capability=$1
  case $compute_capability in
  9.0 | 10.0) echo "sm_${compute_capability/./}a" ;;
  [0-9]*.[0-9]*) echo "sm_${compute_capability/./}" ;;
  esac
}

case ${1-} in
--device) quick_device && exit ;;
--arch) architecture "$(query_gpus compute_cap 2>/dev/null | head -n 1)" && exit ;;
--cuda-home) cuda_home && exit ;;
--help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' scripts/doctor.sh && exit ;;
'') ;;
*)
  echo "error: scripts/doctor.sh does not know ${1@Q}: see scripts/doctor.sh --help" >&2
  exit 2
  ;;
esac

# ------------------------------------------------------------------------------- the table

reset=''
declare -A colour=([ok]='' [optional]='' [old]='' [missing]='')
if [[ -t 1 ]]; then
  reset=$'\e[0m'
  colour=([ok]=$'\e[32m' [optional]=$'\e[33m' [old]=$'\e[31m' [missing]=$'\e[31m')
fi

# row VERDICT ITEM FOUND [HELP]: HELP says how to get what is not there, or what follows.
# needed VERDICT ITEM FOUND [HELP]: the same for what the lab cannot run without.
row() {
  printf '%s%-8s%s  %-18s  %s\n' "${colour[$1]}" "$1" "$reset" "$2" "$3"
  if [[ -n ${4-} ]]; then printf '%30s-> %s\n' '' "$4"; fi
}

needed() {
  row "$@"
  if [[ $1 != ok ]]; then broken=yes; fi
}
broken=no

# seconds_left LIMIT: until LIMIT seconds after the start, at least a tenth.
seconds_left() {
  awk -v now="${EPOCHREALTIME/[.,]/}" -v started="$started" -v limit="$1" \
    'BEGIN { left = limit - (now - started) / 1e6; print (left > 0.1 ? left : 0.1) }'
}

# Prints the first version number in a text, such as 12.2.0.
version_in() { grep -o -m 1 -E '[0-9]+\.[0-9]+(\.[0-9]+)*' <<<"$1" | head -n 1; }

# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch

# The slow answers are asked for first and read last.
query_gpus name,compute_cap,memory.total,memory.free,driver_version,mig.mode.current \
  >"$scratch/gpus" 2>"$scratch/gpus.error" &
gpus_pid=$!
timeout 3 python3 - >"$scratch/python" 2>/dev/null <<'END' &
import importlib.metadata, platform
print(platform.python_version())
print(importlib.metadata.version("torch"))
END
python_pid=$!
missing=$(scripts/deps.sh --missing)
install="make deps"
if ((EUID != 0)) && ! sudo -n true 2>/dev/null; then install="make deps PREFIX=.deps"; fi

is_missing() { [[ $missing == *" $1"$'\n'* || $missing == *" $1" ]]; }

# compiles COMPILER FLAGS SUFFIX: whether the compiler builds the program on standard input.
compiles() {
  cat >"$scratch/probe.$3"
  # shellcheck disable=SC2086 # several flags
  timeout 3 "$1" $2 -o "$scratch/probe" "$scratch/probe.$3" >/dev/null 2>&1
}

check_compilers() {
  if is_missing gcc || is_missing libc6-dev; then
    needed missing gcc "no gcc, or no headers of the C library" "$install"
  elif compiles gcc -std=c17 c <<<'int main(void) { return 0; }'; then
    row ok gcc "$(gcc -dumpfullversion)  $(command -v gcc)"
  else
    needed old gcc "$(gcc -dumpfullversion)  $(command -v gcc)" "cannot compile C17: the lab is made with gcc 12"
  fi
  if is_missing g++; then
    needed missing g++ "no g++, or without OpenMP" "$install"
  elif compiles g++ "-std=c++17 -fopenmp" cpp <<<$'#include <omp.h>\n#include <optional>\n
    int main() { return std::optional<int>(omp_get_max_threads()).value() < 1; }'; then
    row ok g++ "$(g++ -dumpfullversion)  $(command -v g++)  C++17, OpenMP"
  else
    needed old g++ "$(g++ -dumpfullversion)  $(command -v g++)" \
      "cannot compile C++17 with -fopenmp: the lab is made with g++ 12"
  fi
}

# clang can take the place of gcc and g++, but nothing needs it.
check_clang() {
  local version use="make CC=clang CXX=clang++; sanitize and count still compile the kernels with g++"
  command -v clang >/dev/null && command -v clang++ >/dev/null || return
  version="$(version_in "$(clang --version)")  $(command -v clang)"
  if compiles clang++ "-std=c++17 -fopenmp" cpp <<<$'#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }'; then
    row ok clang "$version  C++17, OpenMP" "$use"
  else
    row optional clang "$version" "cannot compile C++17 with -fopenmp, and is not needed: with libomp-dev (Debian) $use"
  fi
}

check_tools() {
  local version
  version=$(version_in "$(make --version 2>/dev/null)")
  if is_missing make; then
    needed missing make - "$install"
  elif ((${version%%.*} < 4)); then
    needed old make "$version  $(command -v make)" "the lab needs GNU make 4 or newer"
  else
    row ok make "$version  $(command -v make)"
  fi
  if is_missing libcriterion-dev; then
    row missing Criterion - "$install; without it no make check"
  else
    version=$(pkg-config --modversion criterion 2>/dev/null)
    row ok Criterion "$version  $(readlink -f "$(gcc -print-file-name=libcriterion.so)")"
  fi
  if is_missing gnuplot-nox; then
    row optional gnuplot - "$install; without it there are no charts"
  else
    row ok gnuplot "$(version_in "$(gnuplot --version | sed 's/ patchlevel /./')")  $(command -v gnuplot)"
  fi
  if is_missing clang-format-14; then
    version=$(clang-format --version 2>/dev/null)
    row optional "clang-format 14" "${version:--}" "$install; without it no format check"
  else
    version=$(command -v clang-format-14 || command -v clang-format)
    row ok "clang-format 14" "$(version_in "$("$version" --version)")  $version"
  fi
  if is_missing git; then
    row optional git - "$install; without it, records carry no commit"
  else
    row ok git "$(version_in "$(git --version)")  $(command -v git)"
  fi
  wait "$python_pid"
  {
    read -r version && read -r torch
  } <"$scratch/python"
  if [[ -n ${torch-} ]]; then
    row ok "python3, PyTorch" "$version, $torch  $(command -v python3)"
  else
    row optional "python3, PyTorch" "${version:-no python3}${version:+, no PyTorch}" \
      "python3 -m pip install torch; only to compare with PyTorch's attention"
  fi
}

check_machine() {
  local total available free
  case $(uname -s)-$(uname -m) in
  Linux-x86_64 | Linux-aarch64)
    row ok processor "$(uname -m), $(nproc) cores  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
    ;;
  *) needed missing processor "$(uname -s) on $(uname -m)" "the lab runs on Linux, x86-64 and aarch64" ;;
  esac
  total=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
  available=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  row ok memory "$total MiB, $available MiB available" \
    "$( ((available < 1024)) && echo "under 1024 MiB: large shapes will not fit")"
  free=$(df -Pm . | awk 'NR == 2 { print $4 }')
  row ok "disk here" "$free MiB free" "$( ((free < 1024)) && echo "under 1024 MiB: builds may fail")"
}

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
    row old "NVIDIA driver" "$driver_version runs CUDA up to $driver, the toolkit is $toolkit" \
      "install a newer driver, or the CUDA toolkit $driver"
  elif [[ -n $toolkit ]] && newer "$toolkit" "$driver"; then
    row ok "NVIDIA driver" "$driver_version runs CUDA up to $driver, the toolkit is $toolkit" \
      "enough for code compiled for this very GPU, as the lab's is"
  else
    row ok "NVIDIA driver" "$driver_version runs CUDA up to $driver"
  fi
}

# Fills `device`, `why` and, with a GPU, `sm`.
check_cuda() {
  local toolkit='' name capability total free mig driver_version=''
  device=$(quick_device)
  home=$(cuda_home)
  sm=
  if [[ -n ${CUDA_HOME-} && ! -x $CUDA_HOME/bin/nvcc ]]; then
    row optional CUDA_HOME "$CUDA_HOME" "has no bin/nvcc, so it is not used"
  fi
  if [[ -n $home ]]; then
    toolkit=$("$home/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    row ok nvcc "$toolkit  $home/bin/nvcc"
    check_tools_of_cuda
  else
    row optional nvcc - "the CUDA toolkit: https://developer.nvidia.com/cuda-downloads"
  fi
  wait "$gpus_pid"
  while IFS=, read -r name capability total free driver_version mig; do
    row ok GPU "$name, compute capability$capability,$total MiB,$free MiB free, MIG${mig,,}"
    sm=${sm:-$(architecture "${capability# }")}
  done < <(grep -E ', [0-9]+\.[0-9]+,' "$scratch/gpus")
  if [[ -z $sm ]]; then
    row optional GPU "none found" "${CUDA_VISIBLE_DEVICES+CUDA_VISIBLE_DEVICES=\"$CUDA_VISIBLE_DEVICES\" }$(
      cat "$scratch/gpus" "$scratch/gpus.error" | head -n 1)"
  fi
  driver_version=$(cut -d , -f 5 "$scratch/gpus" | head -n 1)
  check_driver
  if [[ $device == cpu ]]; then
    why="there is no $(if [[ -z $home ]]; then echo nvcc; else echo "GPU that programs may use"; fi)"
  elif [[ -z $sm ]]; then
    why="nvcc and a GPU are here, but nvidia-smi does not tell what GPU it is"
  elif kernel_runs "$sm"; then
    row ok "a kernel" "compiled for $sm, ran, gave the right result"
    why="a kernel compiled for $sm ran on the GPU"
  elif (($? == 124)); then
    row optional "a kernel" "was not compiled and run in the time there is" "try again: the second time is faster"
    why="nvcc and a GPU are here"
  else
    row old "a kernel" "does not run: $(tail -n 1 "$scratch/smoke")" \
      "until that is repaired, add DEVICE=cpu to every make"
    why="nvcc and a GPU are here, though a kernel does not run: add DEVICE=cpu"
  fi
}

# The verbs of the Makefile that this machine can do, and those that it cannot and why.
print_verbs() {
  local can='' cannot=''
  # verb NAME TRUTH REASON
  verb() {
    if ! grep -q -s "^$1:" Makefile; then return; fi
    if [[ $2 == yes ]]; then can+=${can:+, }$1; else cannot+=${cannot:+, }"$1 ($3)"; fi
  }
  on_gpu() { if [[ $device == gpu ]]; then echo yes; fi; }
  verb build yes
  verb run yes
  verb ladder yes
  verb sanitize yes
  verb compare yes
  verb check "$(is_missing libcriterion-dev || echo yes)" "no Criterion"
  verb plots "$(is_missing gnuplot-nox || echo yes)" "no gnuplot"
  verb format "$(is_missing clang-format-14 || echo yes)" "no clang-format 14"
  verb ptxas "$([[ -n $home ]] && echo yes)" "no nvcc"
  verb sass "$([[ -n $home && $lacking != *nvdisasm* ]] && echo yes)" "no nvdisasm"
  verb bench "$(on_gpu)" "no GPU"
  verb sweep "$(on_gpu)" "no GPU"
  verb ncu "$([[ $lacking != *ncu* ]] && on_gpu)" "no GPU or no ncu"
  verb peers "$([[ -n ${torch-} ]] && on_gpu)" "no GPU or no PyTorch"
  verb spread "$([[ -n ${torch-} ]] && on_gpu)" "no GPU or no PyTorch"
  echo
  echo "Works here: $can.${cannot:+ Does not: $cannot.}"
}

check_compilers
check_clang
check_tools
check_machine
check_cuda
if [[ $broken == yes ]]; then
  echo
  echo "The lab cannot run yet: first comes what is missing or old above ($install)."
  exit 2
fi
print_verbs
echo "DEVICE=$device: $why."
