# Reads the resources that the compiler gave each kernel: awk -v step=NAME -f resources.awk attention.ptx log Rows
# of tabs, in the order of the source: mangled name, registers, threads of a block, static shared memory, stack,
# spill stores, spill loads (bytes). Threads are those of __launch_bounds__, which PTX calls maxntid; "-" without.

# PTX
/^ *(\.visible |\.weak )?\.entry / {
  match($0, /\.entry +[^( ]+/)
  kernel = substr($0, RSTART + 6, RLENGTH - 6)
  gsub(/ /, "", kernel)
  kernels[++count] = kernel
  threads[kernel] = "-"
}
/^ *\.(maxntid|reqntid) / {
  sub(/^ *\.[a-z]+ +/, "")
  split($0, extent, /[, ]+/)
  threads[kernel] = extent[1] * (extent[2] == "" ? 1 : extent[2]) * (extent[3] == "" ? 1 : extent[3])
}

# The log of ptxas -v
/Compiling entry function/ { split($0, quoted, "\047"); kernel = quoted[2]; owner = kernel }
/Function properties for/ { owner = $NF }
/bytes stack frame/ {
  if (owner == kernel) stack[kernel] = $1
  stores[kernel] += $5 # those of functions that are called, too
  loads[kernel] += $9
}
/Used [0-9]+ registers/ {
  match($0, /Used [0-9]+/)
  registers[kernel] = substr($0, RSTART + 5, RLENGTH - 5)
  shared[kernel] = 0
  for (i = 1; i < NF; i++) if ($(i + 1) == "bytes" && $(i + 2) ~ /^smem/) shared[kernel] = $i
}

END {
  OFS = "\t"
  if (!count) {
    print "error: there is no kernel in steps/" step "/attention.cu" >"/dev/stderr"
    exit 1
  }
  for (i = 1; i <= count; i++) {
    kernel = kernels[i]
    if (!(kernel in registers)) {
      print "error: ptxas said nothing of the kernel " kernel " of step " step >"/dev/stderr"
      exit 1
    }
    print kernel, registers[kernel], threads[kernel], shared[kernel], stack[kernel] + 0,
      stores[kernel] + 0, loads[kernel] + 0
  }
}
