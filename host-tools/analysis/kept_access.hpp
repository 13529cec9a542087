// Accesses that are kept while reading continues, as rows of a table.
#pragma once

#include "abi/control.hpp"
#include "abi/record.hpp"
#include "mmioscope/event.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mmioscope::analysis {

/// Addresses of a device, from `begin` to before `end`.
struct Bytes {
    std::uint64_t begin;
    std::uint64_t end;

    bool has(const Bytes& other) const { return begin <= other.begin && other.end <= end; }
    bool overlaps(const Bytes& other) const { return begin < other.end && other.begin < end; }
    bool operator==(const Bytes&) const = default;
};
inline Bytes touched_by(const abi::Record& record) {
    const std::uint64_t begin = abi::physical_address(record);
    return {begin, begin + abi::access_size(record)};
}

/// What the access `record` moved at `bytes`, of which it must have all; nothing if it is not
/// known.
std::optional<std::uint64_t> value_at(const abi::Record& record, const Bytes& bytes);

class KeptAccess {
public:
    /// Keeps `event` instead of the access before. Its names must have been looked up
    /// (Event::resolve()).
    void keep(const Event& event) {
        event_ = event;
        reg_ = event.reg();
        within_ = reg_ == nullptr ? 0 : static_cast<unsigned>(event.offset() - reg_->offset);
        row_.clear();
    }

    /// Call it before ids of events become invalid: turns names into text.
    void forget();

    bool empty() const { return event_.number == 0; }
    const abi::Record& record() const { return event_.record; }
    std::uint64_t number() const { return event_.number; }

    /// A row for kept_columns(), with `what` in the first cell.
    table::Row row(std::string_view what) const;

    /// The same for `wider`, which has all bytes of this access: with its part in this register.
    table::Row row_of_part(const KeptAccess& wider, std::string_view what) const;

private:
    Event event_;
    const Register* reg_ = nullptr; ///< never forgotten
    unsigned within_ = 0;           ///< bytes from its start
    table::Row row_;                ///< without the first cell; empty: the names are still valid
};

/// Columns of a table of accesses. The first says what each access is.
std::vector<table::Column> kept_columns();

// The last value seen of each register, for print --changes.

class LastValues {
public:
    static constexpr std::size_t most = 16'384; ///< registers that are remembered

    struct Change {
        std::optional<std::uint64_t> before; ///< nothing: the first value, or after an unknown one
    };

    /// `access`, which has a value, is the next one. Nothing: it changes nothing, or its register
    /// is left out. Accesses of another address or size are to another register. A value that is
    /// not known is a change.
    std::optional<Change> see(const abi::Record& access);

    /// The number of accesses to registers beyond `most`.
    std::uint64_t left_out() const { return left_out_; }

private:
    struct Last {
        bool seen = false;
        std::optional<std::uint64_t> value;
    };

    CappedMap<std::unordered_map<std::uint64_t, Last>> values_{most}; ///< by place
    std::uint64_t left_out_ = 0;
};

// Whether all accesses to watched memory have records.

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
