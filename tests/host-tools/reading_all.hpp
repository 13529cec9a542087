// Traces for reading parts of them, and a count of the bytes that are read.
#pragma once

#include "file/trace_reader.hpp"
#include "records.hpp"
#include "system/byte_source.hpp"

#include <optional>

namespace mmioscope::test {

using Bytes = std::vector<std::byte>;

/// `sections` of `each` records, at times 1000, 1010, 1020 ...; every tenth is early by 15, and
/// CPUs take turns. Sections other than records are in the middle and at the end.
inline Bytes long_trace(unsigned sections, unsigned each) {
    return trace_bytes([=](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        for (std::uint32_t i = 0; i < sections * each; ++i) {
            const std::uint64_t early = i % 10 == 5 ? 15 : 0;
            const abi::Record record = access(i % 2, i / 2, 1000 + 10 * std::uint64_t{i} - early);
            writer.append(std::span(&record, 1));
            if (i % each == each - 1) {
                writer.flush();
            }
            if (i == sections * each / 2) {
                writer.text("middle=yes\n");
            }
        }
        const abi::Loss loss{1, 7, 3, 1500};
        writer.values(abi::SectionType::losses, std::span(&loss, 1));
        const abi::Statistics statistics[2] = {};
        writer.values(abi::SectionType::statistics, std::span<const abi::Statistics>(statistics));
        writer.text("behind=yes\n");
        writer.finish(3, abi::Ending::machine_off);
    });
}

/// Counts the bytes read from another source, and can hide that it can seek.
class Watched : public ByteSource {
public:
    explicit Watched(ByteSource& source, bool seeks = true) : source_(source), seeks_(seeks) {}

    std::size_t read(void* to, std::size_t size) override {
        const std::size_t got = source_.read(to, size);
        count_ += got;
        return got;
    }
    std::optional<std::uint64_t> size() const override {
        return seeks_ ? source_.size() : std::nullopt;
    }
    void seek(std::uint64_t offset) override { source_.seek(offset); }
    std::string problem() const override { return source_.problem(); }

    std::uint64_t count() const { return count_; }

private:
    ByteSource& source_;
    bool seeks_;
    std::uint64_t count_ = 0;
};

/// The result of reading a trace, or the part of it with these `times`.
struct ReadAll {
    explicit ReadAll(ByteSource& source, std::optional<trace::TimeSpan> times = {}) {
        trace::TraceReader reader(source,
                                  [this](const std::string& text) { problems.push_back(text); });
        if (times) {
            reader.select({*times, {}, false});
        }
        for (auto block = reader.next(); !block.empty(); block = reader.next()) {
            for (const abi::Record& record : block) {
                REQUIRE(record.value == record.cpu_sequence); // as in access()
                if (!times || times->has(record.time)) {
                    records.push_back(record);
                }
            }
        }
        end = reader.end();
        losses = reader.losses().size();
        statistics = reader.statistics().size();
        text = reader.text();
        sound = reader.sound();
    }

    /// The cpu_sequence of records with wanted times.
    std::vector<std::uint64_t> times_in(const trace::TimeSpan& times) const {
        std::vector<std::uint64_t> result;
        for (const abi::Record& record : records) {
            if (times.has(record.time)) {
                result.push_back(record.time);
            }
        }
        return result;
    }

    std::vector<abi::Record> records;
    std::vector<std::string> problems;
    std::optional<abi::End> end;
    std::size_t losses = 0;
    std::size_t statistics = 0;
    std::map<std::string, std::string> text;
    bool sound = false;
};

/// All section headers of a complete trace, with their offsets.
inline std::vector<std::pair<std::size_t, abi::SectionHeader>> headers(const Bytes& bytes) {
    std::vector<std::pair<std::size_t, abi::SectionHeader>> all;
    for (std::size_t at = sizeof(abi::FileHeader); at < bytes.size();) {
        abi::SectionHeader header{};
        REQUIRE(at + sizeof header <= bytes.size());
        std::memcpy(&header, bytes.data() + at, sizeof header);
        REQUIRE(header.magic == abi::section_magic);
        all.emplace_back(at, header);
        at += sizeof header + (header.size + 7) / 8 * 8;
    }
    return all;
}

} // namespace mmioscope::test
