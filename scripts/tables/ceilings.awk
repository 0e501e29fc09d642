# What this GPU reached with kernels that do one thing only, and what its data sheet says.
# Arguments: DEVICE
# Data: ceilings.csv (make ceilings)
BEGIN { header("ceiling\tunit\tmeasured [95 %]\tdata sheet\tof the data sheet\tsource", 2) }
{
  interval = field("ci_low") == "" ? "" : " [" rounded(field("ci_low"), field("value") / 10) ", " \
    rounded(field("ci_high"), field("value") / 10) "]"
  row(ceiling_text(field("name")) "\t" field("unit") "\t" rounded(field("value"), field("value") / 10) interval throttled_text() \
    "\t" field("vendor_value") "\t" \
    (field("vendor_value") > 0 ? sprintf("%.0f %%", 100 * field("value") / field("vendor_value")) : "") \
    "\t" field("vendor_source"))
}
END { origin() }
