#include "lib/record_text.hpp"

#include <array>

namespace mmioscope::trace {

namespace {

template <std::size_t N>
std::string_view at(const std::array<std::string_view, N>& words, std::uint64_t index,
                    std::string_view otherwise) {
    return index < N ? words[static_cast<std::size_t>(index)] : otherwise;
}

} // namespace

std::string_view type_text(abi::RecordType type) {
    static constexpr std::array<std::string_view, 15> words = {
        "nothing",         "access",        "begin",     "own",   "gap",
        "marker",          "configuration", "interrupt", "fetch", "cache maintenance",
        "page-table walk", "fault",         "power",     "fold",  "task"};
    return at(words, static_cast<std::uint8_t>(type), "unknown record");
}

std::string fault_text(std::uint64_t value) {
    static constexpr std::array<std::string_view, 9> words = {
        "no access: no reason given",
        "no access: no device has this address",
        "no access: the device is the hypervisor's",
        "no access: the memory is the hypervisor's",
        "no access: it would load the PC from a device",
        "no access: the instruction is no known load or store",
        "no access: the instruction took an exception",
        "no progress: the same again and again",
        "no access: external abort"};
    const abi::FaultReason reason = abi::fault_reason(value);
    if (reason == abi::FaultReason::lock_not_given_back) {
        return "no access yet: cpu" + std::to_string(abi::fault_cpu(value)) +
               " keeps the device's lock";
    }
    return std::string(at(words, static_cast<std::uint8_t>(reason), "no access: unknown reason"));
}

std::string_view mode_text(std::uint8_t mode) {
    if ((mode & 0x1fu) == 0) { // no mode has this number: it is not known
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

} // namespace mmioscope::trace
