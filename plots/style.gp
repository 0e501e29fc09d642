# The look that all charts share. Colours: Okabe and Ito's palette, told apart by colour-blind readers,
# in an order that also differs in grey. Called with: terminal ("svg", "png" or "dumb"), output.
set datafile separator comma
set datafile commentschars "#"
blue = "#0072b2"; orange = "#e69f00"; green = "#009e73"; red = "#d55e00"; grey = "#5f5f5f"
if (terminal eq "svg") set terminal svg size 900,520 dynamic enhanced font "Helvetica,15" background "white"
if (terminal eq "png") set terminal pngcairo size 900,520 enhanced font "Helvetica,12"
if (terminal eq "dumb") set terminal dumb size 100,26 noenhanced
if (terminal ne "dumb") set output output
set border 3 lw 1 lc rgb grey
set tics nomirror out textcolor rgb "#202020"
set grid ytics lc rgb "#d8d8d8" lw 1
set key noautotitle
set style fill solid 0.9 noborder
set boxwidth 0.6
