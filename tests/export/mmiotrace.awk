# Reads an mmiotrace log by its documentation, and prints a line for each event, fields between tabs:
# what, microseconds, w or r, size, physical, value, PC, virtual (by the mapping that the access names), text.
# A line that does not fit the format, or an access outside of its mapping, ends it.
function wrong(why) { print "line " NR ": " why ": " $0 > "/dev/stderr"; failed = 1; exit 1 }
function micros(time, parts) {
    if (time !~ /^[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9]$/) wrong("time")
    split(time, parts, ".")
    return parts[1] * 1000000 + parts[2]
}
# Addresses of up to 2^52 are exact in awk's numbers.
function hex(text, value, i) {
    if (text !~ /^0x[0-9a-f]+$/) wrong("number")
    for (i = 3; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return value + 0
}
function virtual(id, physical) {
    if (!(id in base)) wrong("no such mapping")
    if (physical < base[id] || physical >= base[id] + size[id]) wrong("outside of its mapping")
    return virt[id] == 0 ? 0 : virt[id] + physical - base[id]
}
BEGIN { OFS = "\t"; OFMT = CONVFMT = "%.0f" }
NR == 1 { if ($0 != "VERSION 20070824") wrong("version"); next }
# As /proc/bus/pci/devices: place, vendor and device, interrupt, 7 addresses, 7 sizes, driver or nothing behind a space.
$1 == "PCIDEV" {
    if ($0 !~ /^PCIDEV [0-9a-f][0-9a-f][0-9a-f][0-9a-f] [0-9a-f]+( [0-9a-f]+)+ [^ ]*$/ || length($3) != 8 || NF < 18 || NF > 19)
        wrong("PCIDEV")
    if (NR != 2 + functions++) wrong("PCIDEV behind something else")
    next
}
$1 == "MAP" {
    if (NF != 8 || ($3 in base)) wrong("MAP")
    micros($2); base[$3] = hex($4); virt[$3] = hex($5); size[$3] = hex($6); next
}
$1 == "UNMAP" { if (NF != 5 || !($3 in base)) wrong("UNMAP"); micros($2); delete base[$3]; next }
$1 == "R" || $1 == "W" {
    if (NF != 8) wrong("fields")
    print "access", micros($3), tolower($1), $2, hex($5), $6, hex($7), virtual($4, hex($5)), ""; next
}
$1 == "UNKNOWN" {
    if (NF != 7 || $5 !~ /^[0-9a-f][0-9a-f],[0-9a-f][0-9a-f],[0-9a-f][0-9a-f]$/) wrong("fields")
    print "unknown", micros($2), "", "", hex($4), "", hex($6), virtual($3, hex($4)), ""; next
}
$1 == "MARK" && $3 == "device" && $2 == "0.000000" { next }
$1 == "MARK" { text = $0; sub(/^MARK [^ ]* /, "", text); print "mark", micros($2), "", "", "", "", "", "", text; next }
{ wrong("keyword") }
