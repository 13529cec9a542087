#include "stream/description.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope {

namespace {

abi::Info info_of(const abi::AreaHeader& area) {
    abi::Info info{};
    info.counter_frequency = area.counter_frequency;
    info.cpu_count = area.cpu_count;
    info.engine = area.engine;
    info.policy = area.policy;
    info.record_size = area.record_size;
    info.region_size = area.region_size;
    std::memcpy(info.boot_id, area.boot_id, sizeof info.boot_id);
    std::memcpy(info.board, area.board, sizeof info.board);
    return info;
}

std::size_t length_of(const char* path) {
    return static_cast<std::size_t>(std::find(path, path + abi::path_size - 1, '\0') - path);
}

} // namespace

void DescriptionWriter::start(const abi::AreaHeader& area, unsigned time_shift) {
    size_ = 0;
    const abi::Description head{info_of(area), area.area_base, area.area_size, area.region_count,
                                time_shift};
    add(&head, sizeof head);
    const auto* regions = reinterpret_cast<const abi::RegionEntry*>(
        reinterpret_cast<const std::uint8_t*>(&area) + area.regions_offset);
    for (std::uint32_t i = 0; i < area.region_count; ++i)
        add_region(regions[i], i == 0 ? "" : regions[i - 1].path);
}

void DescriptionWriter::add_region(const abi::RegionEntry& region, const char* before) {
    const std::size_t length = length_of(region.path);
    std::size_t shared = 0;
    while (shared < length && region.path[shared] == before[shared]) ++shared;
    const abi::StreamRegion coded{region.base,
                                  region.size,
                                  region.reg_index,
                                  region.flags,
                                  static_cast<std::uint8_t>(shared),
                                  static_cast<std::uint8_t>(length - shared),
                                  0};
    add(&coded, sizeof coded);
    add(region.path + shared, length - shared);
}

void DescriptionWriter::add_alias(const char* name, const char* path) {
    const std::size_t size = std::strlen(name) + std::strlen(path) + 2;
    if (size > room - size_) return;
    add(name, std::strlen(name) + 1);
    add(path, std::strlen(path) + 1);
}

void DescriptionWriter::pack() {
    const auto size = static_cast<std::uint32_t>(size_);
    std::memcpy(packed_, &size, sizeof size);
    abi::Encoder encoder;
    encoder.start(packed_ + sizeof size, size_);
    model_.code(encoder, text_, size_);
    std::size_t coded = encoder.finish();
    if (coded >= size_) {
        coded = size_;
        std::memcpy(packed_ + sizeof size, text_, size_);
    }
    packed_size_ = sizeof size + coded;
}

std::size_t DescriptionWriter::write_piece(unsigned piece, std::uint8_t* to) const {
    const std::size_t offset = piece * abi::max_piece;
    const std::size_t length = std::min(packed_size_ - offset, abi::max_piece);
    const abi::HelloHeader hello{static_cast<std::uint16_t>(piece),
                                 static_cast<std::uint16_t>(pieces()),
                                 static_cast<std::uint32_t>(packed_size_)};
    std::memcpy(to, &hello, sizeof hello);
    std::memcpy(to + sizeof hello, packed_ + offset, length);
    return sizeof hello + length;
}

void DescriptionWriter::add(const void* bytes, std::size_t size) {
    std::memcpy(text_ + size_, bytes, size);
    size_ += size;
}

} // namespace mmioscope
