# The look that all charts share. Colours: Okabe and Ito's palette, which colour-blind readers can tell
# apart. The caller sets: terminal ("svg", "png" or "dumb"), output, csv, caption.
set datafile separator comma
set datafile commentschars "#"
set datafile columnheaders
blue = "#0072b2"; orange = "#e69f00"; grey = "#5f5f5f"
if (terminal eq "svg") set terminal svg size 900,520 dynamic enhanced font "Helvetica,15" background "white"
if (terminal eq "png") set terminal pngcairo size 1350,780 enhanced font "Helvetica,16"
if (terminal eq "dumb") set terminal dumb size 100,24 noenhanced
if (terminal ne "dumb") set output output
titled(text) = terminal eq "dumb" ? text : sprintf("{/:Bold %s}\n{/*0.8 %s}", text, caption)
set border 3 lw 1 lc rgb grey
set tics nomirror out
set xtics noenhanced
set ytics textcolor rgb grey
set grid ytics lc rgb "#c0c0c0" lw 1 dt solid
set key noautotitle
set style fill solid 0.9 noborder
set boxwidth 0.6
stats csv using 0 name "rows" nooutput
set xrange [-0.6:rows_records - 0.4]
