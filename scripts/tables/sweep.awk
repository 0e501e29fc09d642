# A step's configurations, as the sweep ranked them. NAME is the file's, such as sweep-06-dim128.
# Arguments: DEVICE NAME
# Data: NAME.csv (make step06 sweep)
!printed++ {
  print "Step " readable(field("step")) ", " problem_text() ".\n"
  header("BLOCK_M x BLOCK_N x WARPS x STAGES\tms [95 %]\tTFLOP/s\tof the fastest", 1)
}
{
  if (timed() && !fastest) fastest = field("median_ms")
  row(field("configuration") "\t" time_cell() "\t" (timed() ? significant(field("tflops")) "\t" \
    (field("speedup") != "" ? ratio_cell("speedup") : significant(fastest / field("median_ms"))) : "\t"))
}
END { origin() }
