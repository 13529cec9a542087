#include "view/known_boot.hpp"

#include "table/json.hpp"

#include <fmt/format.h>

#include <cstring>

namespace mmioscope::view {

namespace {

std::string id_of(const abi::AreaHeader& header) {
    return fmt::format("{:02x}", fmt::join(header.boot_id, ""));
}

std::string board_of(const abi::AreaHeader& header) {
    return {header.board, ::strnlen(header.board, sizeof header.board)};
}

bool stopped(const abi::AreaHeader& header) {
    return header.state == abi::AreaState::panicked;
}

// Why nothing of an earlier boot was kept; empty if something was, or if the reason says nothing.
std::string_view why_not_kept(abi::Kept kept) {
    switch (kept) {
    case abi::Kept::damaged: return "the records of the previous boot were damaged";
    case abi::Kept::other_layout: return "the records of the previous boot had another layout";
    case abi::Kept::no_room: return "the area is too small to keep a previous boot";
    default: return "";
    }
}

} // namespace

std::string boot_line(const KnownBoot& boot) {
    const abi::AreaHeader& header = boot.area.header();
    const std::string_view why = why_not_kept(header.kept);
    return fmt::format("{}, id {}, {}, {} CPUs{}{}{}\n", boot.which, id_of(header),
                       board_of(header), header.cpu_count,
                       stopped(header) ? ", the hypervisor had stopped" : "",
                       why.empty() ? "" : "; ", why);
}

std::string boot_json(const KnownBoot& boot) {
    const abi::AreaHeader& header = boot.area.header();
    const std::string_view why = why_not_kept(header.kept);
    fmt::memory_buffer text;
    text.push_back('{');
    table::append_json(text, "type", std::string_view("boot"));
    table::append_json(text, "format", std::uint64_t{1});
    table::append_json(text, "which", boot.which);
    table::append_json(text, "boot_id", id_of(header));
    table::append_json(text, "board", board_of(header));
    table::append_json(text, "ticks_per_second", std::uint64_t{header.counter_frequency});
    table::append_json(text, "cpus", std::uint64_t{header.cpu_count});
    table::append_json(text, "stopped", stopped(header));
    table::append_json(text, "not_kept", why.empty() ? table::Cell() : table::Cell(why));
    text.append(std::string_view("}\n"));
    return fmt::to_string(text);
}

} // namespace mmioscope::view
