// Packs records into blocks (block.hpp).
#pragma once

#include "file/dictionary.hpp"
#include "file/stream_writer.hpp"
#include "records/callers.hpp"

#include <span>
#include <vector>

namespace mmioscope::trace {

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

    template <std::size_t words>
    void write_dictionary(const Dictionary<words>& dictionary,
                          std::span<const std::uint16_t> numbers);

    std::uint8_t way_of_lr(std::size_t i) const;

    std::span<const abi::Record> records_;
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
