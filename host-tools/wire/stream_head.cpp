#include "wire/stream_head.hpp"

#include "abi/description_codec.hpp"

#include <libfdt.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace mmioscope::wire {

namespace {

/// Takes values from the start of some bytes.
class Cursor {
public:
    explicit Cursor(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    template <typename T>
    bool read(T& value) {
        if (bytes_.size() < sizeof value) {
            return false;
        }
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_ = bytes_.subspan(sizeof value);
        return true;
    }

    bool read_text(std::size_t size, std::string& text) {
        if (bytes_.size() < size) {
            return false;
        }
        text.assign(bytes_.begin(), bytes_.begin() + static_cast<long>(size));
        bytes_ = bytes_.subspan(size);
        return true;
    }

    /// Takes a text up to a zero, and the zero.
    bool read_string(std::string& text) {
        const auto zero = std::find(bytes_.begin(), bytes_.end(), 0);
        std::uint8_t end = 0;
        return zero != bytes_.end() &&
               read_text(static_cast<std::size_t>(zero - bytes_.begin()), text) && read(end);
    }

    bool empty() const { return bytes_.empty(); }

private:
    std::span<const std::uint8_t> bytes_;
};

std::optional<std::vector<std::uint8_t>> unpack(std::span<const std::uint8_t> bytes) {
    Cursor cursor(bytes);
    std::uint32_t size = 0;
    if (!cursor.read(size) || size > abi::max_description) {
        return std::nullopt;
    }
    const std::span<const std::uint8_t> coded = bytes.subspan(sizeof size);
    std::vector<std::uint8_t> text(coded.begin(), coded.end());
    if (coded.size() != size) {
        text.assign(size, 0);
        abi::Decoder decoder;
        decoder.start(coded.data(), coded.size());
        std::make_unique<abi::TextModel>()->code(decoder, text.data(), text.size());
    }
    return text;
}

bool plausible(const abi::Description& d) {
    return d.info.cpu_count >= 1 && d.info.cpu_count <= abi::max_cpus &&
           d.info.counter_frequency != 0 && d.info.record_size == sizeof(abi::Record) &&
           d.info.region_size == sizeof(abi::RegionEntry) && d.region_count <= abi::max_regions &&
           d.time_shift <= abi::max_time_shift;
}

bool read_region(Cursor& cursor, std::string& path, abi::RegionEntry& entry) {
    abi::StreamRegion region;
    std::string rest;
    if (!cursor.read(region) || region.shared > path.size() ||
        region.shared + region.rest >= static_cast<int>(sizeof entry.path) ||
        !cursor.read_text(region.rest, rest)) {
        return false;
    }
    path.resize(region.shared);
    path += rest;
    entry = {};
    entry.base = region.base;
    entry.size = region.size;
    entry.reg_index = region.reg_index;
    entry.flags = region.flags;
    path.copy(entry.path, sizeof entry.path - 1);
    return true;
}

bool read_aliases(Cursor& cursor, std::map<std::string, std::string>& aliases) {
    while (!cursor.empty()) {
        std::string name;
        std::string path;
        if (!cursor.read_string(name) || !cursor.read_string(path)) {
            return false;
        }
        aliases[name] = path;
    }
    return true;
}

} // namespace

std::optional<StreamHead> read_description(std::span<const std::uint8_t> bytes) {
    const std::optional<std::vector<std::uint8_t>> text = unpack(bytes);
    if (!text) {
        return std::nullopt;
    }
    Cursor cursor(*text);
    abi::Description description;
    if (!cursor.read(description) || !plausible(description)) {
        return std::nullopt;
    }
    StreamHead head{description.info,
                    description.area_base,
                    description.area_size,
                    description.time_shift,
                    {},
                    {}};
    head.info.board[sizeof head.info.board - 1] = 0;
    std::string path;
    for (std::uint32_t i = 0; i < description.region_count; ++i) {
        abi::RegionEntry entry;
        if (!read_region(cursor, path, entry)) {
            return std::nullopt;
        }
        head.regions.push_back(entry);
    }
    return read_aliases(cursor, head.aliases) ? std::optional(head) : std::nullopt;
}

std::vector<std::byte> alias_tree(const StreamHead& head) {
    std::size_t room = 1024;
    for (const auto& [name, path] : head.aliases) {
        room += name.size() + path.size() + 64;
    }
    std::vector<std::byte> tree(room);
    const int size = static_cast<int>(room);
    fdt_create_empty_tree(tree.data(), size);
    const int node = fdt_add_subnode(tree.data(), 0, "aliases");
    for (const auto& [name, path] : head.aliases) {
        fdt_setprop(tree.data(), node, name.c_str(), path.c_str(),
                    static_cast<int>(path.size() + 1));
    }
    fdt_pack(tree.data());
    tree.resize(fdt_totalsize(tree.data()));
    return tree;
}

bool DescriptionPieces::add(std::span<const std::uint8_t> payload) {
    abi::HelloHeader header;
    if (payload.size() < sizeof header) {
        return false;
    }
    std::memcpy(&header, payload.data(), sizeof header);
    payload = payload.subspan(sizeof header);
    const std::size_t offset = header.piece * abi::max_piece;
    if (header.size > abi::max_description || header.piece >= header.pieces ||
        offset + payload.size() > header.size) {
        return false;
    }
    if (bytes_.size() != header.size || here_.size() != header.pieces) {
        bytes_.assign(header.size, 0);
        here_.assign(header.pieces, false);
    }
    std::copy(payload.begin(), payload.end(), bytes_.begin() + static_cast<long>(offset));
    here_[header.piece] = true;
    return std::find(here_.begin(), here_.end(), false) == here_.end();
}

void DescriptionPieces::clear() {
    bytes_.clear();
    here_.clear();
}

} // namespace mmioscope::wire
