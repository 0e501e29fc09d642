# What each step asks of the machine, counted by the emulator: times on a CPU would mean nothing.
load "plots/style.gp"
if (terminal eq "dumb") {
  set title "Block barriers of each step"
  set yrange [0:*]
  plot csv using 0:(column("block_barriers")):xticlabels(1) with boxes, \
       csv using 0:(column("block_barriers")):(sprintf("%.0f", column("block_barriers"))) \
         with labels offset 0,0.7
  exit
}
set multiplot layout 1,3 title titled("What each step asks of the machine") margins 0.07,0.98,0.24,0.8 spacing 0.08
set yrange [0:*]
set offsets 0, 0, graph 0.1, 0
set xtics rotate by 30 right
do for [count in "workspace_bytes blocks block_barriers"] {
  unit = count eq "workspace_bytes" ? 1000.0 : 1.0
  set title count eq "workspace_bytes" ? "workspace, kB" : count eq "blocks" ? "blocks launched" : "block barriers passed"
  plot csv using 0:(column(count) / unit):xticlabels(1) with boxes lc rgb blue, \
       csv using 0:(column(count) / unit):(sprintf("%.0f", column(count) / unit)) with labels offset 0,0.7
}
unset multiplot
