#include "dt/config.hpp"

#include "abi/chosen.hpp"
#include "dt/board.hpp"
#include "dt/option.hpp"

namespace mmioscope {

namespace {

constexpr Word engines[] = {{"shadow", static_cast<std::uint32_t>(abi::EngineKind::shadow)},
                            {"emulation", static_cast<std::uint32_t>(abi::EngineKind::emulation)},
                            {"unprotect", static_cast<std::uint32_t>(abi::EngineKind::unprotect)}};
constexpr Word policies[] = {{"drop", static_cast<std::uint32_t>(abi::Policy::drop)},
                             {"stall", static_cast<std::uint32_t>(abi::Policy::stall)},
                             {"flight", static_cast<std::uint32_t>(abi::Policy::flight)}};

constexpr Word conduits[] = {{"hvc", static_cast<std::uint32_t>(psci::Conduit::hvc)},
                             {"smc", static_cast<std::uint32_t>(psci::Conduit::smc)}};

BootError read_psci(const Tree& tree, Config& config) {
    const int node = psci_node(tree);
    if (node < 0) return {};
    if (!read_word(tree, node, "method", conduits, config.conduit))
        return {"the method of /psci must be hvc or smc", ""};
    config.psci_functions = {.cpu_suspend = tree.cell(node, "cpu_suspend", 0),
                             .cpu_off = tree.cell(node, "cpu_off", 0),
                             .cpu_on = tree.cell(node, "cpu_on", 0)};
    return {};
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
    return {};
}

/// A program in the guest reads the rings. It cannot make room while the guest waits for room.
BootError read_readers(const Tree& tree, int chosen, Config& config) {
    config.guest_reader = tree.has(chosen, abi::chosen::guest_reader);
    if (config.guest_reader && config.policy == abi::Policy::stall)
        return {"mmioscope,guest-reader and policy stall exclude each other", ""};
    config.host_reader = !config.guest_reader;
    if (!read_word(tree, chosen, abi::chosen::host_reader, switches, config.host_reader))
        return {"mmioscope,host-reader must be on or off", ""};
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
    config.no_breakpoints = tree.has(chosen, abi::chosen::no_breakpoints);
    config.user_firewall = tree.has(chosen, abi::chosen::user_firewall);
    if (auto e = read_cell(tree, chosen, abi::chosen::area_size, config.area_size)) return e;
    if (config.area_size % page_size != 0)
        return {"mmioscope,area-size must be a multiple of 4 KiB", ""};
    if (auto e = read_cell(tree, chosen, abi::chosen::entry, config.entry)) return e;
    if (auto e = read_cell(tree, chosen, abi::chosen::guest_tree, config.guest_tree)) return e;
    if (config.guest_tree.value_or(0) % 8 != 0)
        return {"mmioscope,guest-tree must be a multiple of 8", ""};
    if (auto e = read_readers(tree, chosen, config)) return e;
    if (auto e = read_psci(tree, config)) return e;
    return read_modules(tree, chosen, config.modules);
}

} // namespace mmioscope
