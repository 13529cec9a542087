#!/bin/sh
# A C++ source that holds the devices of the files named, as registers::shipped_devices().
set -eu
printf '// Made by %s.\n#include "registers/shipped.hpp"\n\nnamespace mmioscope::registers {\n\n' "$0"
printf 'std::span<const ShippedDevice> shipped_devices() {\n    static constexpr ShippedDevice devices[] = {\n'
awk '
    function end() { if (text != "") printf "        {\"%s\", %d,\n         R\"regs(%s)regs\",\n         R\"regs(%s)regs\"},\n", file, line, head, text }
    /^device / || FNR == 1 { end(); text = head = ""; file = FILENAME; sub(".*/", "", file); line = FNR }
    /^device / || text != "" { text = text $0 "\n" }
    /^(device|compatible|reg) / { head = head $0 "\n" }
    END { end() }' "$@"
printf '    };\n    return devices;\n}\n\n} // namespace mmioscope::registers\n'
