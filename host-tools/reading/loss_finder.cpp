#include "reading/loss_finder.hpp"

#include "records/losses.hpp"

namespace mmioscope::reading {

std::optional<abi::Loss> LossFinder::add(const abi::Record& record) {
    Cpu& cpu = cpus_[record.cpu];
    if (!cpu.known) {
        cpu = {true, record.cpu_sequence, record.cpu_sequence};
    }
    const std::uint32_t hole = record.cpu_sequence - cpu.next;
    abi::Loss loss{record.cpu, cpu.next, static_cast<std::int32_t>(hole) > 0 ? hole : 0,
                   record.time};
    cpu.next = record.cpu_sequence + 1;
    if (record.type == abi::RecordType::gap) {
        // It stands in the place of the first one that it tells of.
        loss.count = trace::add_lost(loss.count, record.value);
        cpu.next = record.cpu_sequence + static_cast<std::uint32_t>(record.value);
    }
    lost_ = trace::add_lost(lost_, loss.count);
    return loss.count == 0 ? std::nullopt : std::optional(loss);
}

std::vector<abi::Loss> LossFinder::rest(std::span<const abi::Loss> losses) const {
    std::vector<abi::Loss> rest;
    for (const abi::Loss& loss : losses) {
        const Cpu cpu = loss.cpu < cpus_.size() ? cpus_[loss.cpu] : Cpu();
        if (!cpu.known || loss.first_sequence - cpu.first >= cpu.next - cpu.first) {
            rest.push_back(loss);
        }
    }
    return rest;
}

} // namespace mmioscope::reading
