#include "records/record_text.hpp"

#include "abi/control.hpp"

#include <fmt/format.h>

#include <array>

namespace mmioscope::trace {

namespace {

template <std::size_t N>
std::string_view at(const std::array<std::string_view, N>& words, std::uint64_t index,
                    std::string_view otherwise) {
    return index < N ? words[static_cast<std::size_t>(index)] : otherwise;
}

} // namespace

std::string fault_text(std::uint64_t value, std::string_view device) {
    static constexpr std::array<std::string_view, 16> words = {
        "no access: no reason given",
        "no access: no device has this address",
        "no access: the device is the hypervisor's",
        "no access: the memory is the hypervisor's",
        "no access: it would load the PC from a device",
        "no access: the instruction is not a known load or store",
        "no access: the instruction took an exception",
        "no progress: the same access traps again and again",
        "no access: external abort",
        "", // has a CPU, see below
        "no access: the hypervisor's translation tables met an external abort",
        "", // have a UART, see below
        "",
        "no access: it needs a breakpoint, and the CPU has none",
        "unknown whether an access was made: the instruction took an exception, or is not decoded",
        "no fetch: its page table is in a traced page"};
    const abi::FaultReason reason = abi::fault_reason(value);
    if (reason == abi::FaultReason::lock_not_given_back) {
        return "no access yet: cpu" + std::to_string(abi::fault_cpu(value)) +
               " holds the device's lock";
    }
    const bool kept = reason == abi::FaultReason::uart_kept;
    if (kept || reason == abi::FaultReason::uart_stopped) {
        return fmt::format("the guest switches off {}{}the hypervisor's UART{}", device,
                           device.empty() ? "" : ", ", kept ? ": it stays on" : "");
    }
    return std::string(at(words, static_cast<std::uint8_t>(reason), "no access: unknown reason"));
}

std::string_view mode_text(std::uint8_t mode) {
    if ((mode & 0x1fu) == 0) { // no mode has this number: unknown
        return "";
    }
    static constexpr std::array<std::string_view, 16> arm = {
        " usr", " fiq", " irq", "",     " m4",  " m5",  " mon", " abt",
        " m8",  " m9",  " hyp", " und", " m12", " m13", " m14", " sys"};
    static constexpr std::array<std::string_view, 16> thumb = {
        " usr thumb", " fiq thumb", " irq thumb", " thumb",    " m4 thumb",  " m5 thumb",
        " mon thumb", " abt thumb", " m8 thumb",  " m9 thumb", " hyp thumb", " und thumb",
        " m12 thumb", " m13 thumb", " m14 thumb", " sys thumb"};
    return ((mode & abi::mode_thumb) != 0 ? thumb : arm)[mode & 0xfu];
}

std::string_view engine_caveat(abi::EngineKind engine) {
    return engine == abi::EngineKind::unprotect
               ? "the unprotect engine loses events, and does not know which"
               : "";
}

std::string_view policy_text(abi::Policy policy) {
    static constexpr std::array<std::string_view, 3> words = {"drop", "stall", "flight"};
    return at(words, static_cast<std::uint32_t>(policy), "?");
}

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

/// By abi::control::ProbeEnd.
constexpr std::array<std::string_view, 9> probe_ends = {
    "",
    ": the guest changed the instruction",
    ": the guest wrote to the page by more than single words",
    ": the instruction accessed what is traced",
    ": another instruction was there",
    ": this instruction cannot be probed",
    ": no room",
    ": the kernel frees the code",
    ": nobody has set the probes of a module's functions",
};

/// By abi::control::WatchEnd.
constexpr std::array<std::string_view, 4> watch_ends = {
    "",
    ": the guest executes what lies there",
    ": a page table of the guest's code lies there",
    ": an instruction accessed it in a way that cannot be followed",
};
constexpr std::array<std::string_view, 4> probe_actions = {
    "record", "only count", "record, and start the records of accesses",
    "record, and stop the records of accesses"};
constexpr std::array<std::string_view, 5> probe_subjects = {"arg0", "arg1", "arg2", "arg3", "task"};
constexpr std::array<std::string_view, 4> probe_relations = {"==", "!=", "<", ">"};

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
    case Command::probe:
        return fmt::format("probe {:#x}{}", first & ~3u,
                           (first & abi::control::frees_code) != 0 ? " that frees code" : "");
    case Command::probe_action: {
        const std::string often = second == 1 ? "" : fmt::format(", one hit in {}", second);
        return fmt::format("the next probes {}{}", at(probe_actions, first, "?"), often);
    }
    case Command::probe_mask:
        return fmt::format("the next probes: of the next condition {:#x}", second);
    case Command::probe_if:
        return fmt::format("the next probes if {}{}{:#x}", at(probe_subjects, first & 0xff, "?"),
                           at(probe_relations, first >> 8, "?"), second);
    case Command::unprobe:
        return fmt::format("unprobe {:#x}{}", first, at(probe_ends, second, ": unknown reason"));
    case Command::watch: return "watch " + range_text(first, second);
    case Command::unwatch:
        return first == 0 && second == 0
                   ? "unwatch all"
                   : fmt::format(
                         "unwatch {}{}",
                         range_text(first, second & ((1u << abi::control::watch_end_shift) - 1)),
                         at(watch_ends, second >> abi::control::watch_end_shift,
                            ": unknown reason"));
    case Command::pages_on: return "pages on";
    case Command::pages_off: return "pages off";
    default: return fmt::format("{} {:#x} {:#x}", static_cast<unsigned>(command), first, second);
    }
}

} // namespace

std::string arguments_text(const abi::Record& record) {
    return fmt::format("({:#x}, {:#x}, {:#x}, {:#x})", record.value & 0xffff'ffff,
                       record.value >> 32, record.va, record.pa_low);
}

std::string result_text(const abi::Record& record) {
    return fmt::format("{:#x}", record.value & 0xffff'ffff);
}

std::string hits_text(std::uint64_t value) {
    const std::uint64_t others = value >> 32;
    const std::string text = fmt::format("{} without a record", (value & 0xffff'ffff) + others);
    return others == 0 ? text
                       : fmt::format("{}, of which {} did not meet the conditions", text, others);
}

std::string move_text(const abi::Record& record) {
    constexpr std::array<std::string_view, 6> by = {"load", "store", "fetch",
                                                    "walk", "free",  "back"};
    std::string text(at(by, static_cast<unsigned>(abi::move_by(record.value)), "?"));
    const unsigned holders = abi::move_holders(record.value);
    const bool only_own = holders == 1u << record.cpu;
    const char* const of_nobody = abi::move_by(record.value) < abi::MoveBy::freed ? ", first" : "";
    const char* const of_others = abi::takes(record) ? " from" : " beside";
    text += holders == 0 ? of_nobody : only_own ? ", had it to read" : of_others;
    for (unsigned cpu = 0; cpu < abi::max_cpus && !only_own; ++cpu) {
        if ((holders >> cpu & 1) != 0 && cpu != record.cpu) {
            text += fmt::format(" cpu{}", cpu);
        }
    }
    return text;
}

std::string change_text(const abi::Record& record) {
    const Command command = abi::control::tag_command(record.pa_low);
    const bool of_trigger = command == Command::trigger_start || command == Command::trigger_stop;
    if (of_trigger && record.value == abi::control::fired) {
        return command == Command::trigger_start ? "trigger start fired" : "trigger stop fired";
    }
    return text_of(command, static_cast<std::uint32_t>(record.value),
                   static_cast<std::uint32_t>(record.value >> 32));
}

} // namespace mmioscope::trace
