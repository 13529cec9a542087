#include "dt/board.hpp"

#include "abi/chosen.hpp"
#include "dt/uart.hpp"

#include <cstring>

namespace mmioscope {

int console_of(const Tree& tree) {
    const int chosen = tree.find("/chosen");
    const char* path = chosen < 0 ? nullptr : tree.text(chosen, "stdout-path");
    if (path != nullptr) {
        char name[256]; // what follows a colon is the baud rate
        const std::size_t length = std::strcspn(path, ":");
        if (length < sizeof name) {
            std::memcpy(name, path, length);
            name[length] = '\0';
            if (const int node = tree.find(name); node >= 0) return node;
        }
    }
    if (const int node = tree.find("serial0"); node >= 0) return node;
    for (int node = 0; node < tree.count(); ++node)
        if (!tree.disabled(node) && uart_of(tree, node)) return node;
    return -1;
}

namespace {

void find_uart(const Tree& tree, Board& out) {
    const int chosen = tree.find("/chosen");
    const char* own = chosen < 0 ? nullptr : tree.text(chosen, abi::chosen::uart);
    const int node = own == nullptr ? -1 : tree.find(own);
    auto uart = node < 0 ? std::nullopt : uart_of(tree, node);
    out.uart_is_guests = !uart;
    out.uart_node = uart ? node : console_of(tree);
    if (!uart && out.uart_node >= 0) uart = uart_of(tree, out.uart_node);
    if (uart) out.uart = *uart;
    else out.uart_node = -1;
}

bool is_gic(const char* compatible) {
    for (const char* gic :
         {"arm,gic-400", "arm,cortex-a15-gic", "arm,cortex-a7-gic", "arm,cortex-a9-gic"})
        if (std::strcmp(compatible, gic) == 0) return true;
    return false;
}

const MachineDevice* machine_device(const char* compatible) {
    const MachineDevice* device = machine_devices;
    while (device->compatible != nullptr && std::strcmp(compatible, device->compatible) != 0)
        ++device;
    return device->compatible != nullptr ? device : nullptr;
}

/// Takes note of `node` if it is compatible with a known device, `compatible`.
BootError take_device(const Tree& tree, int node, const char* compatible, Board& out) {
    Range first;
    Range second;
    if (is_gic(compatible) && tree.reg(node, 0, first) && tree.reg(node, 1, second) &&
        out.gic_distributor.value == 0) {
        out.gic_distributor = {first.begin};
        out.gic_cpu_interface = {second.begin};
    }
    const MachineDevice* device = machine_device(compatible);
    if (device == nullptr || !tree.reg(node, 0, first)) return {};
    if (!out.machine_registers.push_back({first, device}))
        return {"too many devices that start CPUs or end the machine", tree.name(node)};
    return {};
}

BootError find_devices(const Tree& tree, Board& out) {
    out.gic_distributor = out.gic_cpu_interface = {};
    out.machine_registers.clear();
    for (int node = 0; node < tree.count(); ++node) {
        Property names = tree.property(node, "compatible");
        while (const char* compatible = names.take_text())
            if (auto e = take_device(tree, node, compatible, out)) return e;
    }
    return {};
}

} // namespace

int psci_node(const Tree& tree) {
    const int node = tree.find("/psci");
    return node >= 0 && tree.compatible(node, {"arm,psci-1.0", "arm,psci-0.2", "arm,psci"}) ? node
                                                                                            : -1;
}

BootError read_board(const Tree& tree, Board& out) {
    const char* name = tree.text(0, "compatible");
    std::strncpy(out.name, name != nullptr ? name : "unknown", sizeof out.name - 1);
    find_uart(tree, out);
    out.psci = psci_node(tree) >= 0;
    // Most buses answer with an error; QEMU's Versatile Express does not.
    out.unassigned =
        tree.compatible(0, {"arm,vexpress"}) ? Unassigned::reads_zero : Unassigned::aborts;
    return find_devices(tree, out);
}

} // namespace mmioscope
