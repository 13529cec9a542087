#!/bin/sh
# A C++ source that holds the file named, as page::shell(). A compiler takes 64 KiB in one string at most (C++ [implimits]).
set -eu
printf '// Made by %s.\n#include "page/content.hpp"\n\nnamespace mmioscope::page {\n\n' "$0"
printf 'std::string_view shell() {\n    static constexpr unsigned char page[] = {\n'
od -An -v -tu1 "$1" | sed 's/  */,/g; s/^,//; s/$/,/'
printf '    };\n    return {reinterpret_cast<const char*>(page), sizeof page};\n}\n\n} // namespace mmioscope::page\n'
