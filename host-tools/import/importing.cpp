#include "import/importing.hpp"

#include "abi/control.hpp"
#include "file/texts.hpp"
#include "import/mmiotrace.hpp"
#include "import/qemu_log.hpp"
#include "system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace mmioscope::importing {

void Malformed::add(std::uint64_t line, std::string_view why) {
    constexpr std::size_t most_shown = 3;
    ++count;
    if (first.size() < most_shown) {
        first.push_back(fmt::format("line {}: {}", line, why));
    }
}

std::string Report::incomplete() const {
    std::vector<std::string> reasons = missing;
    if (malformed.count > 0) {
        reasons.push_back(fmt::format("{} lines of the log cannot be used", malformed.count));
    }
    return fmt::format("{}", fmt::join(reasons, "; "));
}

TraceMaker::TraceMaker(int fd, std::uint32_t frequency, std::uint32_t cpus, std::string_view board,
                       const std::vector<abi::RegionEntry>& regions, const std::string& text)
    : writer_(fd, progress_), losses_(cpus) {
    abi::Info info{};
    info.counter_frequency = frequency;
    info.cpu_count = cpus;
    info.record_size = sizeof(abi::Record);
    info.region_size = sizeof(abi::RegionEntry);
    board.copy(info.board, sizeof info.board - 1);
    writer_.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
    writer_.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(regions));
    losses_.set_only_events();
    writer_.text(text);
}

void TraceMaker::add(abi::Record record) {
    record.lock_sequence = order_[record.device]++;
    put(record);
}

void TraceMaker::put(abi::Record record) {
    std::uint32_t& sequence = sequence_[record.cpu];
    record.cpu_sequence = sequence++;
    record.commit = sequence;
    losses_.add(record);
    writer_.append(std::span(&record, 1));
}

void TraceMaker::mark(std::uint64_t time, std::string_view text) {
    constexpr std::size_t piece = 8;
    for (std::size_t at = 0; at <= text.size(); at += piece) {
        abi::Record record{};
        record.type = abi::RecordType::marker;
        record.time = time;
        record.device = abi::no_device;
        for (std::size_t i = 0; i < std::min(piece, text.size() - at); ++i) {
            record.value |= std::uint64_t{static_cast<unsigned char>(text[at + i])} << 8 * i;
        }
        record.pa_low = static_cast<std::uint32_t>(abi::control::Command::marker_text) |
                        std::uint32_t{marker_id_++} << 16;
        put(record);
    }
}

void TraceMaker::lose(unsigned cpu, std::uint64_t time, std::uint64_t count) {
    abi::Record record{};
    record.type = abi::RecordType::gap;
    record.cpu = static_cast<std::uint8_t>(cpu);
    record.time = time;
    record.device = abi::no_device;
    record.value = count;
    std::uint32_t& sequence = sequence_[cpu];
    record.cpu_sequence = sequence;
    record.commit = sequence + 1;
    losses_.add(record);
    sequence += static_cast<std::uint32_t>(count);
    writer_.append(std::span(&record, 1));
}

void TraceMaker::finish(const std::string& incomplete) {
    writer_.flush();
    writer_.values(abi::SectionType::losses, std::span<const abi::Loss>(losses_.losses()));
    const std::string lines =
        trace::incomplete_line(incomplete) + trace::lost_others_line(losses_.all_lost());
    if (!lines.empty()) {
        writer_.text(lines);
    }
    writer_.finish(losses_.lost(), abi::Ending::machine_off);
}

abi::RegionEntry make_region(std::uint64_t base, std::uint64_t size, const std::string& path) {
    abi::RegionEntry entry{};
    entry.base = base;
    entry.size = size;
    entry.flags = abi::region_traced;
    constexpr std::size_t most = sizeof entry.path - 1;
    const std::string kept =
        path.size() <= most ? path : "~" + path.substr(path.size() - (most - 1));
    kept.copy(entry.path, most);
    return entry;
}

int log2_size(std::uint64_t size) {
    return std::has_single_bit(size) && size <= 64 ? std::countr_zero(size) : -1;
}

namespace {

constexpr Format rows[] = {
    {"mmiotrace", "the log of Linux mmiotrace", import_mmiotrace},
    {"qemu", "QEMU's log of memory_region_ops_read and _write",
     [](ByteSource& log, ByteSource&, int fd) { return import_qemu_log(log, fd); }},
};

} // namespace

std::span<const Format> formats() {
    return rows;
}

const Format& format_of(std::string_view name) {
    const auto found = std::ranges::find(rows, name, &Format::name);
    if (found == std::end(rows)) {
        throw bad_input("there is no format {}", name);
    }
    return *found;
}

namespace {

constexpr std::size_t longest = 64u << 10;

/// Passes lines on, and counts them.
class Lines {
public:
    explicit Lines(const std::function<void(std::string_view)>& each) : each_(each) {}

    void check(std::size_t size) const {
        if (size > longest) {
            throw bad_input("line {} is longer than 64 KiB", number_);
        }
    }
    void add(std::string_view line) {
        check(line.size());
        each_(line);
        ++number_;
    }

private:
    const std::function<void(std::string_view)>& each_;
    std::uint64_t number_ = 1;
};

} // namespace

void for_each_line(ByteSource& source, const std::function<void(std::string_view)>& each) {
    Lines lines(each);
    std::string block;
    std::size_t kept = 0; // start of an incomplete line
    for (;;) {
        constexpr std::size_t step = 1 << 20;
        block.resize(kept + step);
        const std::size_t got = source.read(block.data() + kept, step);
        const std::string_view text(block.data(), kept + got);
        std::size_t start = 0;
        for (std::size_t end = text.find('\n', kept); end != std::string_view::npos;
             end = text.find('\n', start)) {
            lines.add(text.substr(start, end - start));
            start = end + 1;
        }
        if (got < step) {
            if (const std::string problem = source.problem(); !problem.empty()) {
                throw bad_input("{}", problem);
            }
            if (start < text.size()) {
                lines.add(text.substr(start)); // cut off: probably unreadable
            }
            return;
        }
        kept = text.size() - start;
        lines.check(kept);
        block.erase(0, start);
    }
}

} // namespace mmioscope::importing
