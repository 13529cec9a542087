// Packs records into blocks (block.hpp).
#pragma once

#include "file/block.hpp"
#include "records/callers.hpp"

#include <zstd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mmioscope::trace {

// The distinct groups of words in a block, numbered in the order of first occurrence.

template <std::size_t words>
class Dictionary {
public:
    using Entry = std::array<std::uint32_t, words>;

    void clear() {
        entries_.clear();
        behind_.clear();
        slots_.fill(none);
        last_ = 0;
    }

    /// The number of `entry`, which is added if it is new. At most most_records entries.
    std::uint16_t number(const Entry& entry) {
        // The successor of an entry is usually the same as before.
        if (!entries_.empty() && entries_[behind_[last_]] == entry) {
            return last_ = behind_[last_];
        }
        const std::uint16_t found = find(entry);
        if (!behind_.empty()) {
            behind_[last_] = found;
        }
        behind_.resize(entries_.size());
        return last_ = found;
    }

    std::span<const Entry> entries() const { return entries_; }

private:
    static constexpr std::uint16_t none = 0xffff;
    static constexpr unsigned slot_bits = 13; // twice as many slots as entries
    static_assert(most_records * 2 == 1u << slot_bits);

    std::uint16_t find(const Entry& entry) {
        std::uint32_t hash = 0;
        for (const std::uint32_t word : entry) {
            hash = (hash ^ word) * 0x9e37'79b1;
            hash ^= hash >> 15;
        }
        for (std::size_t slot = hash >> (32 - slot_bits);; slot = (slot + 1) % slots_.size()) {
            if (slots_[slot] == none) {
                slots_[slot] = static_cast<std::uint16_t>(entries_.size());
                entries_.push_back(entry);
            }
            if (entries_[slots_[slot]] == entry) {
                return slots_[slot];
            }
        }
    }

    std::vector<Entry> entries_;
    std::vector<std::uint16_t> behind_; ///< last successor of each entry
    std::uint16_t last_ = 0;
    std::array<std::uint16_t, std::size_t{1} << slot_bits> slots_{};
};

// Writes the streams of a column (block.hpp).

class StreamWriter {
public:
    StreamWriter();

    /// Appends the streams to `to`, which belongs to the caller.
    void begin(std::vector<std::byte>& to) { to_ = &to; }

    /// Writes one stream.
    void write(std::span<const std::byte> bytes);

    /// Writes the lowest bytes of all numbers as one stream, the second bytes as another, and the
    /// higher ones as a third. This separates bytes that change from record to record from those
    /// that do not.
    template <typename Number>
    void write_numbers(std::span<const Number> numbers) {
        write(plane(numbers, 0, 1));
        write(plane(numbers, 1, 2));
        write(plane(numbers, 2, sizeof(Number)));
    }

    /// Writes all bytes of the numbers as one stream, most of them 0.
    void write_rare(std::span<const std::uint32_t> numbers) {
        write(plane(numbers, 0, sizeof(std::uint32_t)));
    }

private:
    void put(StreamKind kind, std::span<const std::byte> packed);

    // Bytes `first` to `end` of each number: all of the first place, then all of the next.
    template <typename Number>
    std::span<const std::byte> plane(std::span<const Number> numbers, std::size_t first,
                                     std::size_t end) {
        plane_.resize(numbers.size() * (end - first));
        std::byte* to = plane_.data();
        for (std::size_t place = first; place < end; ++place) {
            for (const Number number : numbers) {
                *to++ = static_cast<std::byte>(number >> (8 * place));
            }
        }
        return plane_;
    }

    struct Free {
        void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    std::unique_ptr<ZSTD_CCtx, Free> context_;
    std::vector<std::byte>* to_ = nullptr;
    std::vector<std::byte> plane_;
    std::vector<std::byte> compressed_;
};

using trace::Caller;

/// Keeps its memory from block to block; each block is independent.
class Packer {
public:
    /// Packs 1 to most_records records, with a caller for each of them or none, into the payload of
    /// a section. Unpacking restores every bit. The result is valid until the next call.
    std::span<const std::byte> pack(std::span<const abi::Record> records,
                                    std::span<const Caller> callers = {});

private:
    void write_sites();
    void write_times();
    void write_values();
    void write_frames();
    void write_lrs();
    void write_sequences();
    void write_callers(std::span<const Caller> callers);
    void take_payloads();

    template <std::size_t words>
    void write_dictionary(const Dictionary<words>& dictionary,
                          std::span<const std::uint16_t> numbers);

    std::uint8_t way_of_lr(std::size_t i) const;

    std::span<const abi::Record> records_;
    std::vector<abi::Record> emptied_; ///< the records without the bytes of payloads_
    std::vector<std::byte> payloads_;
    std::vector<std::byte> block_;
    StreamWriter writer_;
    Dictionary<site_words.size()> sites_;
    Dictionary<frame_words> frames_;
    Dictionary<1> callers_;
    std::vector<std::uint16_t> site_of_; ///< of each record
    std::vector<std::uint16_t> numbers_;

    // By site, CPU or device, while a column is made.
    std::vector<std::uint64_t> last_value_;
    std::vector<std::uint32_t> site_lr_;
    std::vector<std::uint32_t> step_;
    std::vector<std::uint32_t> last_lock_ = std::vector<std::uint32_t>(0x10000);
    std::array<std::uint32_t, 256> cpu_lr_{};

    std::vector<std::byte> bytes_;
    std::array<std::vector<std::byte>, value_ways> literals_;
    std::vector<std::uint64_t> gaps_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> second_;
    std::vector<std::uint32_t> third_;
};

} // namespace mmioscope::trace
