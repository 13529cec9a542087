# How much of what QEMU logged is missing from the trace, by guest, CPUs and engine.
# gnuplot -e "results='...'; plot_file='...'" missed.gnuplot
set terminal svg size 1000,440 font "sans-serif,13" background "white"
set output plot_file
set datafile separator tab
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.85 border -1
set boxwidth 0.9
set ylabel "accesses missing from the trace, %"
set yrange [0:105]
set bmargin 4
set grid ytics
set key inside right top
set title "Accesses that reached a device and are not in the trace"
of(engine) = sprintf("< grep '\t%s\t' '%s'", engine, results) # columns as in results.tsv
missed(m, log) = log > 0 ? 100.0 * m / log : 0
text(m, log) = sprintf("%.3g", missed(m, log))
plot of("unprotect") using (missed($6, $4)):xtic(sprintf("%s\n%s CPU", strcol(1), strcol(2))) title "page opened to all CPUs (baseline)" lc rgb "#c0392b", \
     of("shadow") using (missed($6, $4)) title "a table for each CPU (shadow)" lc rgb "#2471a3", \
     of("emulation") using (missed($6, $4)) title "emulation" lc rgb "#7fb3d5", \
     of("unprotect") using ($0 - 0.25):(missed($6, $4)):(text($6, $4)) with labels offset 0,0.6 notitle, \
     of("shadow") using ($0):(missed($6, $4)):(text($6, $4)) with labels offset 0,0.6 notitle, \
     of("emulation") using ($0 + 0.25):(missed($6, $4)):(text($6, $4)) with labels offset 0,0.6 notitle
