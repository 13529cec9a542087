#include "run/trace_source.hpp"

#include "abi/layout.hpp"
#include "system/error.hpp"
#include "tree/device_tree.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

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
                      area_->header().counter_frequency, plan_.names.functions, !plan_.options.stacks.empty());
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

namespace {

constexpr std::size_t piece = 64 * 1024;

} // namespace

std::span<const std::byte> StreamSource::read_more() {
    buffer_.resize(piece);
    const ssize_t size = ::pread(fd_, buffer_.data(), piece, static_cast<off_t>(read_));
    if (size < 0) {
        throw failure("cannot read the stream: {}", std::strerror(errno));
    }
    read_ += static_cast<std::uint64_t>(size);
    return std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(size));
}

bool StreamSource::ready() {
    const std::span<const std::byte> more = read_more();
    first_.insert(first_.end(), more.begin(), more.end());
    if (more.empty()) {
        return false;
    }
    head_decoder_.feed(more);
    return head_.found;
}

void StreamSource::begin(trace::FileWriter& file, const trace::About& about) {
    recorder_.emplace(file, about);
    recorder_->feed(first_);
    first_.clear();
}

std::size_t StreamSource::pass() {
    const std::span<const std::byte> more = read_more();
    recorder_->feed(more);
    return more.size();
}

void StreamSource::finish(abi::Ending ending) {
    while (pass() > 0) {
    }
    recorder_->finish(ending);
}

std::unique_ptr<TraceSource> StreamSource::next_boot() const {
    return std::make_unique<StreamSource>(fd_, read_);
}

TraceResult StreamSource::result(std::string_view console) const {
    const wire::StreamHead& head = *recorder_->head();
    const std::span<const abi::Statistics> statistics = recorder_->statistics();
    return {recorder_->summary(),
            recorder_->losses(),
            head.regions,
            {statistics.begin(), statistics.end()},
            head.info.counter_frequency,
            head.info.engine,
            head.info.policy,
            recorder_->doubts(console),
            read_ - from_};
}

} // namespace mmioscope::run
