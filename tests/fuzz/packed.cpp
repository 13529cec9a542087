// Packed records are input: the result must be as many records as their header says, or one clear
// line of error. An input that begins with 1 has the contents of columns, which become the frames
// that random bytes would seldom be; one that begins with 2 has records, which must come back
// unchanged.
#include "file/packer.hpp"
#include "system/error.hpp"
#include "system/escape.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace {

using namespace mmioscope;
using namespace mmioscope::trace;

// Decoding only some columns must give the same content.
void unpack(std::span<const std::byte> payload) {
    Unpacker unpacker;
    std::vector<abi::Record> sites;
    try {
        unpacker.open(payload);
        const auto first = unpacker.decode(Column::site);
        sites.assign(first.begin(), first.end());
        const auto all = unpacker.decode(ColumnSet::all());
        const auto same = [](const abi::Record& left, const abi::Record& right) {
            return left.pc == right.pc && left.device == right.device && left.type == right.type;
        };
        if (all.size() > most_records || all.empty() || !std::ranges::equal(all, sites, same) ||
            (!unpacker.callers().empty() && unpacker.callers().size() != all.size())) {
            std::abort();
        }
    } catch (const Error& error) {
        if (error.what() != printable(error.what())) {
            std::abort();
        }
    }
}

/// A number of records, then for each column a length and its bytes.
std::vector<std::byte> sound_block(std::span<const std::byte> contents) {
    const auto number = [&contents] {
        std::uint16_t taken = 0;
        const std::size_t size = std::min(sizeof taken, contents.size());
        std::copy_n(contents.begin(), size, std::as_writable_bytes(std::span(&taken, 1)).begin());
        contents = contents.subspan(size);
        return taken;
    };
    BlockHeader header{number(), 0, 0, 0, {}};
    std::vector<std::byte> block(sizeof header);
    for (std::uint32_t& size : header.sizes) {
        const auto column = contents.first(std::min<std::size_t>(number(), contents.size()));
        contents = contents.subspan(column.size());
        if (!column.empty()) {
            const std::size_t before = block.size();
            block.resize(before + ZSTD_compressBound(column.size()));
            size = static_cast<std::uint32_t>(ZSTD_compress(&block[before], block.size() - before,
                                                            column.data(), column.size(), 1));
            block.resize(before + size);
        }
    }
    std::memcpy(block.data(), &header, sizeof header);
    return block;
}

void round_trip(std::span<const std::byte> bytes) {
    std::vector<abi::Record> records(std::min(bytes.size() / sizeof(abi::Record), most_records));
    if (records.empty()) {
        return;
    }
    std::memcpy(records.data(), bytes.data(), records.size() * sizeof(abi::Record));
    std::vector<Caller> callers;
    for (const abi::Record& record : records) {
        callers.push_back((record.lr & 1) != 0 ? record.va : trace::lr_holds);
    }
    Packer packer;
    Unpacker unpacker;
    unpacker.open(packer.pack(records, callers));
    const auto back = unpacker.decode(ColumnSet::all());
    const bool any =
        std::ranges::count(callers, trace::lr_holds) < static_cast<std::ptrdiff_t>(callers.size());
    if (back.size() != records.size() ||
        std::memcmp(back.data(), records.data(), back.size_bytes()) != 0 ||
        !std::ranges::equal(unpacker.callers(), any ? callers : std::vector<Caller>())) {
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const unsigned kind = size > 0 ? data[0] : 0;
    if (kind == 1) {
        unpack(sound_block(bytes.subspan(1)));
    } else if (kind == 2) {
        round_trip(bytes.subspan(1));
    } else {
        unpack(bytes);
    }
    return 0;
}
