#include "lib/change_text.hpp"

#include "abi/control.hpp"
#include "lib/record_text.hpp"

#include <fmt/format.h>

namespace mmioscope::trace {

namespace {

using abi::control::Command;

std::string directions_text(std::uint32_t bits) {
    return bits == 1 ? "r" : bits == 2 ? "w" : "rw";
}

std::string range_text(std::uint32_t first, std::uint32_t second) {
    return second == 0 ? "any" : fmt::format("{:#x}+{:#x}", first, second);
}

std::string all_or_none(std::uint32_t region) {
    return region == abi::control::all_regions ? " all" : "";
}

std::string text_of(Command command, std::uint32_t first, std::uint32_t second) {
    switch (command) {
    case Command::start: return "start";
    case Command::stop: return "stop";
    case Command::select: return "select" + all_or_none(first);
    case Command::deselect: return "deselect" + all_or_none(first);
    case Command::select_range: return "select " + range_text(first, second);
    case Command::deselect_range: return "deselect " + range_text(first, second);
    case Command::filter_directions: return "filter direction " + directions_text(first);
    case Command::filter_addresses: return "filter address " + range_text(first, second);
    case Command::filter_values: return fmt::format("filter value {:#x}/{:#x}", second, first);
    case Command::filter_cpus: return fmt::format("filter cpus {:#b}", first);
    case Command::filter_pcs: return "filter pc " + range_text(first, second);
    case Command::no_filter: return "filter none";
    case Command::sample: return fmt::format("sample {}", first);
    case Command::policy:
        return fmt::format("policy {}", policy_text(static_cast<abi::Policy>(first)));
    case Command::trigger_directions: return "trigger direction " + directions_text(first);
    case Command::trigger_addresses: return "trigger address " + range_text(first, second);
    case Command::trigger_values: return fmt::format("trigger value {:#x}/{:#x}", second, first);
    case Command::trigger_start: return fmt::format("trigger start count {}", first);
    case Command::trigger_stop: return fmt::format("trigger stop count {}", first);
    case Command::no_trigger: return "trigger none";
    default: return fmt::format("{} {:#x} {:#x}", static_cast<unsigned>(command), first, second);
    }
}

} // namespace

std::string change_text(const abi::Record& record) {
    const Command command = abi::control::tag_command(record.pa_low);
    if (record.value == abi::control::fired) {
        return command == Command::trigger_start ? "trigger start fired" : "trigger stop fired";
    }
    return text_of(command, static_cast<std::uint32_t>(record.value),
                   static_cast<std::uint32_t>(record.value >> 32));
}

} // namespace mmioscope::trace
