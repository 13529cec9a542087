# Filters and plug-ins as the commands take them. No QEMU: the traces are those of view.sh.
# shellcheck shell=bash disable=SC2154

plugin_commands() {
    view_traces
    local trace=$out/trace.mmio folder=$build/tests/plugins
    view_does 0 print --plugin "$folder/example.so" -F @first_access "$trace"; view_lines 3 @first_access
    view_does 0 print --plugin "$folder/example.so" -F 'dev==mmc && @first_access' "$trace"; view_lines 1 '&& @first_access'
    view_does 0 export --to csv --plugin "$folder/example.so" -F @first_access "$trace" -o -
    [ "$(wc -l <"$out/stdout")" = 4 ] || fail "export: $(wc -l <"$out/stdout") lines"
    view_does 0 stat --plugin "$folder/example.so" -F dev==mmc --analysis 'latency(tick=16)' "$trace"
    has stdout '^below +128 ns +2$'
    has_not stdout 'serial0'
    view_refuses 'no_plugin\.so: no plug-in of mmioscope' print --plugin "$folder/no_plugin.so" "$trace"
    view_refuses 'wrong_version\.so: made for version 999' stat --plugin "$folder/wrong_version.so" "$trace"
    view_refuses "filter: column 6: there is no filter 'other'" print --plugin "$folder/example.so" -F 'r && @other' "$trace"
    view_refuses 'none is loaded' print -F @first_access "$trace"
    view_refuses "there is no analysis 'other'" stat --analysis other "$trace"
    view_does 2 print --plugin "$folder/throws.so" -F @keeping "$trace"
    has stderr '^mmioscope: plug-in .*/throws\.so, filter keeping: two lines$'
    view_does 2 stat --plugin "$folder/throws.so" --analysis ending "$trace"
    has stderr '^mmioscope: plug-in .*/throws\.so, analysis ending: cannot add$'
}

filter_commands() {
    view_traces
    local trace=$out/trace.mmio
    view_does 0 print -F 'dev==mmc && w' "$trace"; view_lines 1 'dev==mmc && w'
    view_does 0 print -F 'time in 100ms..1 and not cpu==0' "$trace"; view_lines 2 'time in'
    view_does 0 print -F 'pc in 0xbf010000..0xbf01ffff || value==0x90' "$trace"; view_lines 3 'pc in'
    view_refuses "filter: column 6: expected a value after '==': dev==<here>" print -F dev== "$trace"
    view_refuses "'pc' tells of code, which --no-pc leaves out" print --no-pc -F pc==1 "$trace"
}

add test plugins 5 plugin_commands
add test filters 5 filter_commands
