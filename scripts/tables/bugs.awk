# Who caught each planted bug, on the emulator and on the GPU, and what the emulator's tools said first.
# Arguments: DEVICE
# Data: ../emulated-DEVICE/bugs.csv (make bugs DEVICE=cpu)
# With: bugs.csv (make bugs DEVICE=gpu)
FILENAME !~ /emulated-[^\/]*\/bugs\.csv$/ {
  on_gpu = 1
  gpu[field("step"), field("bug")] = "\t" field("check") "\t" field("sanitize")
  next
}
{
  said = field("check_message") != "" ? field("check_message") : field("sanitize_message")
  if (length(said) > 90) said = substr(said, 1, 87) "..."
  number = field("bug")
  sub(/_.*/, "", number)
  step = field("step")
  sub(/_.*/, "", step)
  key[++bugs] = field("step") SUBSEP field("bug")
  cells[bugs] = step "." number "\t" field("title") "\t" field("check") "\t" field("sanitize")
  message[bugs] = "`" said "`"
}
END {
  header("bug\ttitle\tcheck, CPU\tsanitize, CPU" (on_gpu ? "\tcheck, GPU\tsanitize, GPU" : "") "\tthe first line", 9)
  for (i = 1; i <= bugs; i++)
    row(cells[i] (!on_gpu ? "" : key[i] in gpu ? gpu[key[i]] : "\t\t") "\t" message[i])
  origin()
}
