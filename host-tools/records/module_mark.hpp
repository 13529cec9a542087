// How the guest itself tells where its modules lie, where nobody reads its memory: a marker for
// each (`mmioscope-guest ctl modules`). Its text is
//
//   module: NAME 0xBASE SIZE
//
// with BASE as in /proc/modules, in hexadecimal, and SIZE, in decimal, the bytes up to the module's
// end or the next one's base. Anybody can set a marker: one that is not exactly this is no more
// than a marker.
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

/// No module is larger: what a branch of the kernel's reaches, twice.
inline constexpr std::uint32_t most_module_size = 64u << 20;

/// The module that `marker`, as MarkerTexts gives it, tells of, known from `time` on.
std::optional<LoadedModule> module_of_mark(std::string_view marker, std::uint64_t time);

/// Knows the pieces of such a text, record by record, for who must leave them out.
class ModuleMarks {
public:
    /// Whether `record` is a piece of one.
    bool has(const abi::Record& record);

private:
    static constexpr std::size_t most_open = 64; // several may set markers at a time

    std::vector<std::uint16_t> next_ids_;
};

} // namespace mmioscope::trace
