// The device tree of a trace is input for names, registers and interrupts, whether it is valid or
// not.
#include "tree/device_names.hpp"
#include "registers/device_registers.hpp"
#include "registers/interrupt_names.hpp"

#include <algorithm>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope;
    std::vector<std::uint64_t> aligned((size + 7) / 8);
    if (size > 0) std::memcpy(aligned.data(), data, size);
    const auto tree = std::as_bytes(std::span(aligned)).first(size);
    const tree::TreeNodes nodes(tree);
    std::vector<abi::RegionEntry> regions;
    for (std::size_t node = 0; node < std::min<std::size_t>(nodes.size(), 16); ++node) {
        abi::RegionEntry region{};
        const std::string path = nodes.path(node);
        path.copy(region.path, sizeof region.path - 1);
        region.reg_index = static_cast<std::uint16_t>(node % 2);
        regions.push_back(region);
        for (const tree::AddressRange& range : nodes.reg(node)) regions.back().base = range.base;
    }
    const tree::DeviceNames names(regions, tree);
    static const registers::RegisterBook book = registers::RegisterBook::shipped();
    registers::DeviceRegisters registers(book);
    registers::InterruptNames interrupts;
    const auto devices = registers::list_devices(regions, tree);
    registers.bind(devices);
    interrupts.bind(devices, std::vector<std::string>(devices.size(), "x"), tree);
    abi::Record record{};
    for (record.device = 0; record.device < regions.size(); ++record.device) {
        (void)registers.find(record.device, 12, abi::access_size(record), abi::is_write(record));
        if (registers.watches(record.device)) {
            (void)registers.observe(record, 12);
        }
        if (interrupts.says(record, 12)) {
            (void)interrupts.text(record.value);
        }
    }
    return 0;
}
