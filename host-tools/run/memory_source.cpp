#include "abi/layout.hpp"
#include "run/trace_source.hpp"
#include "tree/device_tree.hpp"

namespace mmioscope::run {

namespace {

// What is checked, summed up and written is of one read: the guest may write it meanwhile.
std::vector<std::byte> copy_of(std::span<const std::byte> shared) {
    return {shared.begin(), shared.end()};
}

} // namespace

MemorySource::MemorySource(const Plan& plan, const GuestMemory& memory)
    : plan_(plan), memory_(memory),
      bytes_(memory.at(plan.board.hypervisor_base() + abi::area_offset, plan.options.area_size)),
      before_(rings::Area::boot_in(bytes_)) {}

bool MemorySource::ready() {
    const std::optional<rings::BootId> boot = rings::Area::boot_in(bytes_);
    return boot && boot != before_;
}

// The tree that the guest was given, from its memory; ours if it is overwritten already.
void MemorySource::begin(trace::FileWriter& file, const trace::About& about) {
    area_.emplace(bytes_);
    const abi::Info info = area_->info();
    file.values(abi::SectionType::info, std::span(&info, 1));
    const std::vector<std::byte> tree =
        copy_of(memory_.at(area_->header().tree_base, area_->header().tree_size));
    file.section(abi::SectionType::device_tree, tree::tree_is_sound(tree) ? tree : plan_.tree);
    file.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(area_->regions()));
    if (const abi::AreaHeader& header = area_->header();
        header.kept == abi::Kept::kept && header.kept_offset <= bytes_.size() &&
        header.kept_size <= bytes_.size() - header.kept_offset) {
        file.section(abi::SectionType::previous_boot,
                     copy_of(bytes_.subspan(header.kept_offset, header.kept_size)));
    }
    trace::write_about(file, about);
    onlooker_.emplace(linux_guest::PhysicalMemory(memory_.bytes(), memory_.base()),
                      area_->header().counter_frequency, plan_.names.functions);
    recorder_.emplace(*area_, file, &*onlooker_);
}

std::unique_ptr<TraceSource> MemorySource::next_boot() const {
    return std::make_unique<MemorySource>(plan_, memory_);
}

TraceResult MemorySource::result(std::string_view) const {
    return {recorder_->summary(),
            recorder_->losses(),
            area_->regions(),
            area_->statistics(),
            area_->header().counter_frequency,
            area_->header().engine,
            area_->header().policy,
            recorder_->doubts()};
}

} // namespace mmioscope::run
