#include "reading/loss_finder.hpp"

#include "records/losses.hpp"

namespace mmioscope::reading {

std::optional<abi::Loss> LossFinder::add(const Event& event) {
    const abi::Record& record = event.record;
    Cpu& cpu = cpus_[record.cpu];
    if (!cpu.known) {
        cpu = {true, record.cpu_sequence, record.cpu_sequence};
    }
    if (trace::goes_back(record.cpu_sequence, cpu.next)) {
        return std::nullopt; // nothing is missing before what was there before
    }
    const trace::Hole hole = trace::hole_at(cpu.next, record);
    cpu.next += static_cast<std::uint32_t>(event.payload().pieces.size());
    const abi::Loss loss{record.cpu, hole.first, trace::add_lost(hole.in_front, hole.announced),
                         record.time};
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
