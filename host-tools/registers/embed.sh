#!/bin/sh
# A C++ source that holds the files named, as registers::shipped_files().
set -eu
printf '// Made by %s.\n#include "registers/shipped.hpp"\n\nnamespace mmioscope::registers {\n\n' "$0"
printf 'std::span<const ShippedFile> shipped_files() {\n    static constexpr ShippedFile files[] = {\n'
for file; do
    printf '        {"%s", R"regs(' "$(basename "$file")"
    cat "$file"
    printf ')regs"},\n'
done
printf '    };\n    return files;\n}\n\n} // namespace mmioscope::registers\n'
