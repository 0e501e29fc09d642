# How much faster each step is than step 01, on a GPU: the front page chart.
# gnuplot -e "terminal='svg'; output='ladder.svg'; csv='ladder.csv'; caption='...'" plots/ladder.gp
load "plots/style.gp"
stats csv using "median_ms" name "time" nooutput
first = real(system(sprintf("awk -F, '!/^#/ && $1 ~ /^01_/ { for (i in column) ; print $17 }' %s", csv)))
set title "Speed-up over step 01, higher is better" . (terminal eq "dumb" ? "" : "\n{/*0.8 " . caption . "}")
set ylabel "times as fast as step 01"
set logscale y 2
set yrange [0.5:*]
plot csv using 0:(first / column("median_ms")):xtic(1) with boxes lc rgb blue, \
     csv using 0:(first / column("median_ms")):(sprintf("%.1fx, %.1f TFLOP/s", first / column("median_ms"), column("tflops"))) with labels offset 0,0.8
