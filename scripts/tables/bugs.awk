# Who caught each planted bug, and what was said first. The GPU's sanitizer only where it was run.
# Arguments: DEVICE
# Data: bugs.csv (make bugs)
{
  if (field("sanitize_gpu") != "-") on_gpu = 1
  said = field("check_message") != "" ? field("check_message") : field("sanitize_cpu_message") != "" ? \
    field("sanitize_cpu_message") : field("sanitize_gpu_message")
  gsub(/\|/, "\\|", said)
  if (length(said) > 90) said = substr(said, 1, 87) "..."
  number = field("bug")
  sub(/_.*/, "", number)
  step = field("step")
  sub(/_.*/, "", step)
  bug[++bugs] = step "." number "\t" field("title")
  check[bugs] = field("check")
  sanitize[bugs] = field("sanitize_cpu")
  gpu[bugs] = field("sanitize_gpu")
  message[bugs] = "`" said "`"
}
END {
  header("bug\ttitle\tcheck\tsanitize, CPU" (on_gpu ? "\tsanitize, GPU" : "") "\tthe first line", 9)
  for (i = 1; i <= bugs; i++)
    row(bug[i] "\t" check[i] "\t" sanitize[i] (on_gpu ? "\t" gpu[i] : "") "\t" message[i])
  origin()
}
