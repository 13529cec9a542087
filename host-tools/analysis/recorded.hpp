// Whether all accesses to watched memory have records.
#pragma once

#include "abi/control.hpp"
#include "abi/record.hpp"
#include "analysis/kept_access.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

class Recorded {
public:
    /// True: there may be accesses without a record between those before this record and those
    /// behind it.
    bool add(const abi::Record& record) {
        using abi::control::Command;
        if (record.type != abi::RecordType::configuration) {
            return record.type == abi::RecordType::gap;
        }
        switch (abi::control::tag_command(record.pa_low)) {
        case Command::filter_directions:
        case Command::filter_addresses:
        case Command::filter_values:
        case Command::filter_cpus:
        case Command::filter_pcs:
        case Command::sample: all_ = false; return true;
        case Command::no_filter: all_ = true; return true;
        case Command::watch: watch(record.value); return true;
        case Command::unwatch: unwatch(record.value); return true;
        default: return true;
        }
    }
    /// Whether none to the byte at `address` is missing behind it.
    bool all(std::uint64_t address) const {
        return all_ && (pages_ || std::ranges::any_of(parts_, [address](const Bytes& part) {
                            return part.begin <= address && address < part.end;
                        }));
    }

private:
    static Bytes bytes_of(std::uint64_t arguments) {
        constexpr std::uint64_t size = (1u << abi::control::watch_end_shift) - 1;
        const std::uint64_t begin = arguments & 0xffff'ffff;
        return {begin, begin + (arguments >> 32 & size)};
    }
    void watch(std::uint64_t arguments) {
        parts_.push_back(bytes_of(arguments));
        pages_ = pages_ && (parts_.back().begin | parts_.back().end) % 4096 == 0;
    }
    // Of a part that ends somewhere nothing is concluded any more.
    void unwatch(std::uint64_t arguments) {
        const Bytes ended = bytes_of(arguments);
        std::erase_if(parts_, [&](const Bytes& part) {
            return ended.begin == ended.end || part.overlaps(ended);
        });
    }

    bool all_ = true, pages_ = true; ///< only whole pages were ever watched
    std::vector<Bytes> parts_;
};

} // namespace mmioscope::analysis
