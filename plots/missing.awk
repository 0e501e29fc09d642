# The page in place of a chart whose data is missing: it names the device and the files, as the environment tells them.
BEGIN {
  words("", "")
  print "corner = " quoted(ENVIRON["LAB_DEVICE"])
  print "nothing = " quoted("There is nothing to draw yet. Missing:\\n" ENVIRON["LAB_MISSING"])
  exit
}
