# How much of what QEMU logged is missing from the trace, by guest, CPUs and engine.
# gnuplot -e "results='...'; plot_file='...'" missed.gnuplot
set terminal svg size 900,420 font "sans-serif,13" background "white"
set output plot_file
set datafile separator tab
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.85 border -1
set boxwidth 0.9
set ylabel "accesses missing from the trace, %"
set yrange [0:105]
set grid ytics
set key top left
set title "Accesses that reached a device and are not in the trace"
of(engine) = sprintf("< awk -F '\\t' '$3 == \"%s\" { printf \"%%s, %%s CPU\\t%%s\\t%%s\\n\", $1, $2, $4, $6 }' %s", engine, results)
missed(m, log) = log > 0 ? 100.0 * m / log : 0
plot of("unprotect") using (missed($3, $2)):xtic(1) title "page opened to all CPUs (baseline)" lc rgb "#c0392b", \
     of("shadow") using (missed($3, $2)) title "a table for each CPU (shadow)" lc rgb "#2471a3", \
     of("emulation") using (missed($3, $2)) title "emulation" lc rgb "#7fb3d5"
