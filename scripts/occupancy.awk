# Computes how many blocks of a kernel a multiprocessor can hold:
#   awk -v architecture=sm_80 -f occupancy.awk
# Reads rows of tabs: registers of a thread, threads of a block, static and dynamic shared memory (bytes;
# dynamic is "-" when unknown, and counts as none). For each, writes
#   blocks      that fit
#   occupancy   their warps, of those that the multiprocessor has places for
#   limited_by  what there is too little of for one block more
#   room        bytes of dynamic shared memory a block may use before fewer blocks fit
# or dashes when the block size is unknown, or the architecture, or a single block does not fit.
#
# Limits: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".
# Allocation: registers in units of 256 for a warp, warps over four partitions of the register file;
# shared memory in units of 128 bytes, with 1024 bytes more for each block, which are CUDA's own; before 8.0 in
# units of 256 and without these: the guide, and the sheet "GPU Data" of the CUDA Occupancy Calculator.
BEGIN {
  FS = OFS = "\t"
  #              warps blocks shared memory, KB
  limits["75"] = "32 16 64"   # T4, GeForce RTX 20
  limits["80"] = "64 32 164"  # A100
  limits["86"] = "48 16 100"  # A10, GeForce 30
  limits["87"] = "48 16 164"  # Orin
  limits["89"] = "48 24 100"  # L4, L40, GeForce 40
  limits["90"] = "64 32 228"  # H100, H200
  limits["100"] = "64 32 228" # B200
  limits["120"] = "48 24 100" # GeForce 50
  capability = architecture
  gsub(/[^0-9]/, "", capability)
  known = capability in limits
  split(limits[capability], limit, " ")
  shared_memory = 1024 * limit[3]
  reserved = capability + 0 < 80 ? 0 : 1024
  unit = capability + 0 < 80 ? 256 : 128
  block_shared_memory = shared_memory - reserved # one block's most, and with CUDA's own the whole
}

function round_up(value, unit) { return int((value + unit - 1) / unit) * unit }

{
  if (!known || $2 == "-") {
    print "-", "-", "-", "-"
    next
  }
  warps = int(($2 + 31) / 32)
  static = $3
  dynamic = $4 == "-" ? 0 : $4
  by_registers = int(4 * int(65536 / 4 / round_up(32 * $1, 256)) / warps)
  by_threads = int(limit[1] / warps)
  blocks = by_registers < by_threads ? by_registers : by_threads
  limiter = by_registers < by_threads ? "registers" : "threads"
  if (limit[2] < blocks) {
    blocks = limit[2]
    limiter = "blocks"
  }
  one = round_up(static + dynamic, unit) + reserved
  by_shared = one ? int(shared_memory / one) : blocks
  if (by_shared < blocks) {
    blocks = by_shared
    limiter = "shared memory"
  }
  if (blocks == 0) {
    print 0, "0%", limiter, "-"
    next
  }
  room = int((shared_memory / blocks - reserved) / unit) * unit
  if (room > block_shared_memory) room = block_shared_memory
  print blocks, sprintf("%.1f%%", 100 * blocks * warps / limit[1]), limiter, room - static
}
