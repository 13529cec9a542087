#include "dt/config.hpp"

#include "abi/layout.hpp"

#include <cstring>
#include <initializer_list>

namespace mmioscope {

namespace {

struct Word {
    const char* text;
    std::uint32_t value;
};

/// Sets `out` to the value of the word in `property`. False: an unknown word. If the property is
/// absent, `out` stays as it is.
template <class T, std::size_t N>
bool read_word(const Tree& tree, int node, const char* property, const Word (&words)[N], T& out) {
    if (!tree.has(node, property)) return true;
    const char* text = tree.text(node, property);
    for (const Word& w : words)
        if (text != nullptr && std::strcmp(text, w.text) == 0) {
            out = static_cast<T>(w.value);
            return true;
        }
    return false;
}

constexpr Word engines[] = {{"shadow", static_cast<std::uint32_t>(abi::EngineKind::shadow)},
                            {"emulation", static_cast<std::uint32_t>(abi::EngineKind::emulation)},
                            {"unprotect", static_cast<std::uint32_t>(abi::EngineKind::unprotect)}};
constexpr Word policies[] = {{"drop", static_cast<std::uint32_t>(abi::Policy::drop)},
                             {"stall", static_cast<std::uint32_t>(abi::Policy::stall)},
                             {"flight", static_cast<std::uint32_t>(abi::Policy::flight)}};

constexpr Word folds[] = {{"off", static_cast<std::uint32_t>(abi::Fold::off)},
                          {"steps", static_cast<std::uint32_t>(abi::Fold::steps)},
                          {"polls", static_cast<std::uint32_t>(abi::Fold::polls)}};

constexpr Word switches[] = {{"off", 0}, {"on", 1}};

constexpr Word conduits[] = {{"hvc", static_cast<std::uint32_t>(psci::Conduit::hvc)},
                             {"smc", static_cast<std::uint32_t>(psci::Conduit::smc)}};

/// The node of the firmware's PSCI; negative if there is none.
int find_psci(const Tree& tree) {
    const int node = tree.find("/psci");
    return node >= 0 && tree.compatible(node, {"arm,psci-1.0", "arm,psci-0.2"}) ? node : -1;
}

BootError read_modules(const Tree& tree, int chosen, BootModules& modules) {
    for (int node = tree.first_child(chosen); node >= 0; node = tree.next_child(node)) {
        const bool kernel = tree.compatible(node, {abi::chosen::kernel});
        if (!kernel && !tree.compatible(node, {abi::chosen::ramdisk})) continue;
        Range range;
        // A module lies in memory, so its address is one of the root's; /chosen translates nothing.
        if (!tree.untranslated_reg(node, 0, range))
            return {"boot module without a reg", tree.name(node)};
        (kernel ? modules.kernel : modules.ramdisk) = range;
    }
    return modules.kernel.empty() ? BootError{"/chosen has no boot module that is a kernel", ""}
                                  : BootError{};
}

/// Sets `out` to the node whose path or alias is in `property`. If the property is absent, `out`
/// stays as it is.
BootError read_node(const Tree& tree, int chosen, const char* property, const char* if_unknown,
                    int& out) {
    if (!tree.has(chosen, property)) return {};
    const char* name = tree.text(chosen, property);
    out = name != nullptr ? tree.find(name) : -1;
    return out >= 0 ? BootError{} : BootError{if_unknown, name != nullptr ? name : "", true};
}

BootError read_stream(const Tree& tree, int chosen, Config& config) {
    if (auto e = read_node(tree, chosen, abi::chosen::stream, "unknown device in mmioscope,stream",
                           config.stream_node))
        return e;
    config.stream_baud = tree.cell(chosen, abi::chosen::stream_baud, abi::default_stream_baud);
    config.stream_quantum =
        tree.cell(chosen, abi::chosen::stream_quantum, abi::default_stream_quantum);
    config.stream_shared = tree.has(chosen, abi::chosen::stream_shared);
    config.stream_paced = tree.has(chosen, abi::chosen::stream_paced);
    if (config.stream_baud < 300 || config.stream_baud > 10'000'000)
        return {"mmioscope,stream-baud must be 300 to 10,000,000", ""};
    if (!read_word(tree, chosen, abi::chosen::stream_fold, folds, config.stream_fold))
        return {"mmioscope,stream-fold must be off, steps or polls", ""};
    config.host_reader = config.stream_node < 0 && !config.guest_reader;
    if (!read_word(tree, chosen, abi::chosen::host_reader, switches, config.host_reader))
        return {"mmioscope,host-reader must be on or off", ""};
    return {};
}

/// A program in the guest takes the place of the stream. It cannot make room while the guest waits
/// for room.
BootError read_guest_reader(const Tree& tree, int chosen, Config& config) {
    config.guest_reader = tree.has(chosen, abi::chosen::guest_reader);
    if (!config.guest_reader) return {};
    if (tree.has(chosen, abi::chosen::stream))
        return {"mmioscope,guest-reader and mmioscope,stream exclude each other", ""};
    if (config.policy == abi::Policy::stall)
        return {"mmioscope,guest-reader and policy stall exclude each other", ""};
    return {};
}

BootError read_requests(const Tree& tree, int chosen, Config& config) {
    constexpr std::size_t cells = sizeof(EarlyRequest) / 4;
    const Property list = tree.property(chosen, abi::chosen::requests);
    static_assert(abi::chosen::max_requests == 32); // the message below says so
    if (list.size % sizeof(EarlyRequest) != 0)
        return {"mmioscope,requests must have three cells for each request", ""};
    for (std::size_t n = 0; n < list.size / 4; n += cells)
        if (!config.requests.push_back({list.cell(n), {list.cell(n + 1), list.cell(n + 2)}}))
            return {"mmioscope,requests has more than 32 requests", ""};
    return {};
}

BootError read_task_names(const Tree& tree, int chosen, TaskOffsets& offsets) {
    const Property names = tree.property(chosen, abi::chosen::task_names);
    if (!names) return {};
    if (names.size != sizeof offsets) return {"mmioscope,task-names must have two cells", ""};
    offsets = {names.cell(0), names.cell(1)};
    for (const std::uint32_t offset : {offsets.comm, offsets.pid})
        if (offset == 0 || offset % 4 != 0 || offset >= abi::chosen::max_task_offset)
            return {"mmioscope,task-names: offsets must be multiples of 4 from 4 to 16380", ""};
    return {};
}

} // namespace

BootError read_config(const Tree& tree, Config& config) {
    const int chosen = tree.find("/chosen");
    if (chosen < 0) return {"the device tree has no /chosen", ""};
    if (!read_word(tree, chosen, abi::chosen::engine, engines, config.engine))
        return {"mmioscope,engine must be shadow, emulation or unprotect", ""};
    if (!read_word(tree, chosen, abi::chosen::policy, policies, config.policy))
        return {"mmioscope,policy must be drop, stall or flight", ""};
    config.pre = tree.has(chosen, abi::chosen::pre);
    config.slow_path = tree.has(chosen, abi::chosen::slow_path);
    if (!read_word(tree, chosen, abi::chosen::control, switches, config.control))
        return {"mmioscope,control must be on or off", ""};
    config.area_size = tree.cell(chosen, abi::chosen::area_size, abi::default_area_size);
    if (config.area_size % page_size != 0)
        return {"mmioscope,area-size must be a multiple of 4 KiB", ""};
    if (auto e = read_node(tree, chosen, abi::chosen::uart, "unknown device in mmioscope,uart",
                           config.uart_node))
        return e;
    if (auto e = read_guest_reader(tree, chosen, config)) return e;
    if (auto e = read_stream(tree, chosen, config)) return e;
    if (auto e = read_requests(tree, chosen, config)) return e;
    if (auto e = read_task_names(tree, chosen, config.task_names)) return e;
    if (const int node = find_psci(tree); node >= 0)
        if (!read_word(tree, node, "method", conduits, config.conduit))
            return {"the method of /psci must be hvc or smc", ""};
    return read_modules(tree, chosen, config.modules);
}

} // namespace mmioscope
