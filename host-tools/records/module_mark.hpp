// Markers by which the guest itself tells where its modules lie, if nobody reads its memory: one
// for each module (`mmioscope-guest ctl modules`). Its text is
//
//   module: NAME 0xBASE SIZE
//
// BASE is as in /proc/modules, in hexadecimal. SIZE, in decimal, is the number of bytes up to the
// module's end or the next one's base. Anybody can set a marker: a text that is not exactly this is
// just a marker.
#pragma once

#include "abi/record.hpp"
#include "records/module_table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

/// The marker's text. `size`: see most_module_size.
std::string module_mark(std::string_view name, std::uint32_t base, std::uint32_t size);

/// Limit for a module's size: twice the range of a branch in the kernel.
inline constexpr std::uint32_t most_module_size = 64u << 20;

/// The module that `marker`, a text from MarkerTexts, describes, known from `time` on.
std::optional<LoadedModule> module_of_mark(std::string_view marker, std::uint64_t time);

/// Recognises the pieces of such a text, record by record, for code that must leave them out.
class ModuleMarks {
public:
    /// Whether `record` is a piece of one.
    bool has(const abi::Record& record);

private:
    static constexpr std::size_t most_open = 64; // several programs may set markers at a time

    std::vector<std::uint16_t> next_ids_;
};

} // namespace mmioscope::trace
