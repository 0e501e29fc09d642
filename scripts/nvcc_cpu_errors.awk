# Makes a sentence of each error of the compiler or the linker, and leaves out its notes about templates: at most five,
# each once. For scripts/nvcc-cpu.

function strip(text) {
  gsub(/n't/, "n\001t", text) # an apostrophe, not the end of a quotation
  gsub(/‘|’|'|`/, "\"", text)
  gsub(/\001/, "'", text)
  return text
}

# g++ tells of a launch in the emulator's own types: which parameters the kernel has, and which arguments it gets.
function of_launch(text, parameters, arguments) {
  if (text ~ /no matching function for call to "launcher\([^()]*\(&\)/) return "a kernel returns void, and this one does not"
  if (!match(text, /\(emulator::launcher<.*>\) \(/)) return text
  parameters = substr(text, RSTART + 20, RLENGTH - 24)
  arguments = substr(text, RSTART + RLENGTH)
  sub(/\)"?$/, "", arguments)
  gsub(/&/, "", arguments)
  return "the kernel has the parameters (" parameters "), and the launch gives it (" arguments ")"
}

BEGIN { no_textures = "the emulator has no textures, surfaces and arrays: read global memory" }

# The word between the first pair of quotes.
function quoted(text, from, rest) {
  from = index(text, "\"")
  if (!from) return ""
  rest = substr(text, from + 1)
  return substr(rest, 1, index(rest, "\"") - 1)
}

function hint(text, name) {
  name = quoted(strip(text))
  sub(/^::/, "", name)
  if (text ~ /emulator::ptx/) {
    match(text, /"[a-z0-9_]+_"|[a-z0-9]+_[a-z0-9_]*_/)
    return "the emulator has no form of the PTX instruction that this asm statement has"
  }
  if (text ~ /cannot open output file/) return "the folder of the file after -o must be there"
  if (text ~ /No such file or directory/) {
    if (text ~ /torch|ATen|c10|pybind/) return "this file belongs to PyTorch, whose headers nvcc-cpu does not have; give their folder with -I"
    if (text ~ /cutlass|cute\//) return "CUTLASS is not part of the emulator; give its folder with -I, though much of it needs PTX that the emulator lacks"
    if (text ~ /cudnn|cusparse|cusolver|cufft|cublasXt|nccl|npp|nvjpeg|nvml|nvshmem|mpi\.h|GL\/|glut/) return "the emulator does not have this library"
    if (text ~ /_interop\.h|cuda(GL|EGL|VDPAU)\.h/) return "the emulator has no OpenGL and no other graphics"
    if (text ~ /(texture|surface)_(types|([a-z]+_)?functions)\.h/) return no_textures
    if (text ~ /"?(thrust|cub)\//) return "Thrust and CUB are not installed; make deps in the lab's folder installs Debian's packages libthrust-dev and libcub-dev"
    if (text ~ /cuda\/|curand/) return "the emulator does not have this header of CUDA's libraries"
    return "give its folder with -I"
  }
  if (match(text, /did you mean "[^"]*"/) && tolower(substr(text, RSTART + 14, RLENGTH - 15)) == tolower(name)) return ""
  if (text !~ /not declared|not been declared|not a member|no member|does not name|undefined reference|unknown type/) return ""
  if (name ~ /^(texture|surface)$|^(tex|surf)[123]D|^(cu|cuda)([A-Z].*)?(Tex|Surf|Arr|Mipmap|Channel(Desc|Format)|Resource[DV])/) return no_textures
  if (name ~ /^cuda(GL|Graphics|EGL)/) return "the emulator has no OpenGL and no other graphics"
  if (name ~ /^cudaIpc|^cuIpc/) return "the emulator has no memory of other processes"
  if (name ~ /^__(shfl(_up|_down|_xor)?|any|all|ballot)$/) return "GPUs from sm_70 on do not have it: call " name "_sync, whose first argument is the mask of the lanes"
  if (name ~ /^(omp_|GOMP_)/) return "OpenMP needs -Xcompiler -fopenmp"
  if (name ~ /^CU(RAND|BLAS|FFT|SPARSE)_/ || name ~ /^(cuda|cu|cublas|curand|cusparse|cudnn|nv|tex|surf)[A-Z_0-9]/ || name ~ /^(tex[123]D|surf|__)/)
    return "the emulator lacks " name ", or it needs a header that is not included"
  if (text ~ /undefined reference/) return "no file that was given defines it"
  return ""
}

function report(where, text, advice) {
  # These follow from an error that is said already.
  if (text ~ /^ld returned|expression error|^template argument [0-9]+ is invalid|^too many errors|argument deduction failed:$/) return
  gsub(/emulator_twin_/, "", text)
  if (text in said || count >= 5) return
  said[text] = 1
  count++
  advice = hint(text)
  if (advice == no_textures || advice ~ /^GPUs from/) sub(/; did you mean "[^"]*"\?/, "", text) # something else
  print "error: " where strip(text) (advice == "" ? "" : ": " advice)
}

{
  gsub(/‘|’/, "\"")
  gsub(/\033\[[0-9;]*[mK]/, "")
}
# Which line of the program includes the header of an error: the last of these lines.
/^In file included from / { outermost = "" }
/^(In file included|                ) from / {
  outermost = $0
  sub(/^.* from /, "", outermost)
  sub(/[:,].?$/, "", outermost)
}
/nothing_behind_this_line_is_compiled/ { next } # the line before has said why
/: (fatal )?error: #error / {
  sub(/^.*: (fatal )?error: #error /, "")
  gsub(/^"|"$/, "")
  report(outermost ": ", $0)
  next
}
/: (fatal )?error: / {
  at = match($0, /: (fatal )?error: /)
  where = substr($0, 1, at - 1)
  sub(/:[0-9]+$/, "", where) # the column is of the rewritten line
  text = substr($0, at + RLENGTH)
  # What g++ tells of template arguments in brackets goes on for pages.
  sub(/ \[with .*/, "", text)
  text = of_launch(strip(text))
  if (length(text) > 240) text = substr(text, 1, 240) " ..."
  if (text !~ /^static assertion failed/) report(where ": ", text)
  else { sub(/^static assertion failed:? ?/, "", text); report(where ": ", text) }
  next
}
/undefined reference to/ {
  match($0, /undefined reference to .*/)
  report("", substr($0, RSTART))
  next
}
/cannot find -l|multiple definition of|ld: cannot/ { sub(/^.*ld: /, ""); report("", $0) }
{ last = $0 }
END {
  if (!count) print "error: the compiler says: " last
}
