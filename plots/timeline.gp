# What the warps of one multiprocessor do during a few key blocks.
# Title: Timeline
# Data: timeline*.csv (make step14 timeline)
# On: gpu
# Awk: ../scripts/timeline
canvas_width = 1800
load "plots/style.gp"
# From what keeps the tensor cores busy to what waits; colours of Okabe and Ito.
unset ytics
unset border
set border 1 lw 1 lc rgb grey
unset grid
set xrange [0:stretch]
set yrange [-rows:0.35]
if (dumb) {
  set lmargin letters
  set yrange [-rows - 0.3:0.35]
  set xlabel "clocks of the multiprocessor"
  set key tmargin center vertical maxrows 5 samplen 1 width -1 Left reverse
  do for [i = rows + 1:labels] { unset label i } # numbers, for which boxes have no room
} else {
  set lmargin at screen left
  set xlabel "clocks of the multiprocessor" offset 0,0.3
  set tmargin at screen 1 - 215.0 / canvas_height
  set bmargin at screen 100.0 / canvas_height
  set key at screen 0.985,screen 1 - 152.0 / canvas_height right center horizontal samplen 1 width -1 maxrows 2 font ",17" Left reverse
}
set style fill solid 1.0 noborder
if (dumb) { set style fill empty } # gnuplot 6 fills all boxes of a terminal with the same character
plot $scores using 1:2:3:4:5:6 with boxxyerror fc rgb "#0072b2" title "Q K under way", \
     $output using 1:2:3:4:5:6 with boxxyerror fc rgb "#56b4e9" title "P V under way", \
     $unknown using 1:2:3:4:5:6 with boxxyerror fc rgb "#cfe3f0" title "perhaps complete", \
     $issue using 1:2:3:4:5:6 with boxxyerror fc rgb "#009e73" title "queues a product", \
     $softmax using 1:2:3:4:5:6 with boxxyerror fc rgb "#e69f00" title "softmax, other arithmetic", \
     $wait_product using 1:2:3:4:5:6 with boxxyerror fc rgb "#b04e00" title "waits for a product", \
     $wait_turn using 1:2:3:4:5:6 with boxxyerror fc rgb "#cc79a7" title (dumb ? "waits for turn or block" : "waits for its turn or the block"), \
     $wait_tile using 1:2:3:4:5:6 with boxxyerror fc rgb "#8c8c8c" title "waits for a tile or a stage", \
     $copy using 1:2:3:4:5:6 with boxxyerror fc rgb "#000000" title "copies, stores"
