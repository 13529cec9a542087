// docs/man/mmioscope-trace.5 has the offsets and sizes of the structures that are written.
#include "abi/container.hpp"
#include "abi/control.hpp"
#include "catch_2_or_3.hpp"
#include "file/block.hpp"
#include "file/console_text.hpp"
#include "records/task_table.hpp"
#include "symbols/section.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace mmioscope;

namespace {

struct PageField {
    std::string part; ///< of the page: .Ss
    std::string name;
    std::size_t offset;
    std::size_t size;
};

#define FIELD_OF(part, type, name)                                                                 \
    PageField {                                                                                    \
        part, #name, offsetof(type, name), sizeof(type::name)                                      \
    }
#define FIELD(part, type, name) FIELD_OF(part, abi::type, name)

const PageField fields[] = {
    FIELD("File header", FileHeader, magic),
    FIELD("File header", FileHeader, endianness),
    FIELD("File header", FileHeader, version_major),
    FIELD("File header", FileHeader, version_minor),
    FIELD("File header", FileHeader, header_size),
    FIELD("File header", FileHeader, header_crc),
    FIELD("Sections", SectionHeader, magic),
    FIELD("Sections", SectionHeader, type),
    FIELD("Sections", SectionHeader, size),
    FIELD("Sections", SectionHeader, crc),
    FIELD("Sections", SectionHeader, header_crc),
    FIELD("info", Info, counter_frequency),
    FIELD("info", Info, cpu_count),
    FIELD("info", Info, engine),
    FIELD("info", Info, policy),
    FIELD("info", Info, record_size),
    FIELD("info", Info, region_size),
    FIELD("info", Info, boot_id),
    FIELD("info", Info, board),
    FIELD("regions", RegionEntry, base),
    FIELD("regions", RegionEntry, size),
    FIELD("regions", RegionEntry, reg_index),
    FIELD("regions", RegionEntry, flags),
    FIELD("regions", RegionEntry, path),
    FIELD("records", Record, commit),
    FIELD("records", Record, type),
    FIELD("records", Record, cpu),
    FIELD("records", Record, access),
    FIELD("records", Record, mode),
    FIELD("records", Record, time),
    FIELD("records", Record, duration),
    FIELD("records", Record, lock_sequence),
    FIELD("records", Record, cpu_sequence),
    FIELD("records", Record, device),
    FIELD("records", Record, flags),
    FIELD("records", Record, pa_high),
    FIELD("records", Record, value),
    FIELD("records", Record, pc),
    FIELD("records", Record, lr),
    FIELD("records", Record, sp),
    FIELD("records", Record, va),
    FIELD("records", Record, pa_low),
    FIELD("records", Record, task),
    FIELD_OF("packed", trace::BlockHeader, count),
    FIELD_OF("packed", trace::BlockHeader, earliest),
    FIELD_OF("packed", trace::BlockHeader, latest),
    FIELD_OF("packed", trace::BlockHeader, sizes),
    FIELD("losses", Loss, cpu),
    FIELD("losses", Loss, first_sequence),
    FIELD("losses", Loss, count),
    FIELD("losses", Loss, time),
    FIELD("statistics", Statistics, traps),
    FIELD("statistics", Statistics, stepped),
    FIELD("statistics", Statistics, emulated),
    FIELD("statistics", Statistics, unselected),
    FIELD("statistics", Statistics, retries),
    FIELD("statistics", Statistics, lock_spins),
    FIELD("statistics", Statistics, abnormal),
    FIELD("statistics", Statistics, emulated_user),
    FIELD("statistics", Statistics, filtered),
    FIELD("index", IndexHeader, entry_size),
    FIELD("index", IndexHeader, end),
    FIELD("index", IndexEntry, offset),
    FIELD("index", IndexEntry, records_before),
    FIELD("index", IndexEntry, earliest),
    FIELD("index", IndexEntry, latest),
    FIELD("index", IndexEntry, types),
    FIELD("end", End, records),
    FIELD("end", End, lost),
    FIELD("end", End, ending),
    FIELD("end", End, index_offset),
    FIELD_OF("symbols", symbols::SymbolsHead, count),
    FIELD_OF("symbols", symbols::SymbolsHead, blocks),
    FIELD_OF("symbols", symbols::SymbolsHead, addresses),
    FIELD_OF("symbols", symbols::SymbolsBlock, count),
    FIELD_OF("symbols", symbols::SymbolsBlock, size),
    FIELD_OF("tasks", trace::TaskEntry, time),
    FIELD_OF("tasks", trace::TaskEntry, key),
    FIELD_OF("tasks", trace::TaskEntry, kind),
    FIELD_OF("tasks", trace::TaskEntry, pid),
    FIELD_OF("tasks", trace::TaskEntry, tgid),
    FIELD_OF("tasks", trace::TaskEntry, comm),
    FIELD_OF("console", trace::ConsoleHeader, time),
    FIELD_OF("console", trace::ConsoleHeader, size),
};

#define NAMED(type, name)                                                                          \
    { #name, static_cast < unsigned>(type::name) }
using Command = abi::control::Command;

/// Numbers of requests' commands.
const std::pair<std::string, unsigned> commands[] = {
    NAMED(Command, start),
    NAMED(Command, stop),
    NAMED(Command, select),
    NAMED(Command, deselect),
    NAMED(Command, select_range),
    NAMED(Command, deselect_range),
    NAMED(Command, filter_directions),
    NAMED(Command, filter_addresses),
    NAMED(Command, filter_values),
    NAMED(Command, filter_cpus),
    NAMED(Command, filter_pcs),
    NAMED(Command, no_filter),
    NAMED(Command, sample),
    NAMED(Command, policy),
    NAMED(Command, marker),
    NAMED(Command, marker_text),
    NAMED(Command, trigger_directions),
    NAMED(Command, trigger_addresses),
    NAMED(Command, trigger_values),
    NAMED(Command, trigger_start),
    NAMED(Command, trigger_stop),
    NAMED(Command, no_trigger),
};

/// Rows ".It NUMBER Ta NAME ..." of part "records".
std::vector<std::pair<std::string, unsigned>> numbered_rows() {
    std::ifstream page("docs/man/mmioscope-trace.5");
    std::vector<std::pair<std::string, unsigned>> all;
    bool records = false;
    for (std::string line; std::getline(page, line);) {
        std::istringstream words(line);
        std::string macro, ta, name;
        unsigned number = 0;
        if (line.starts_with(".Ss ")) {
            records = line == ".Ss records";
        } else if (records && words >> macro >> number >> ta >> name && macro == ".It" &&
                   std::isdigit(static_cast<unsigned char>(name.front())) == 0) {
            all.emplace_back(name, number);
        }
    }
    return all;
}

/// Rows ".It OFFSET Ta BYTES Ta NAME Ta ..." of the page, except reserved fields.
std::vector<PageField> rows() {
    std::ifstream page("docs/man/mmioscope-trace.5");
    REQUIRE(page);
    std::vector<PageField> all;
    std::string part;
    for (std::string line; std::getline(page, line);) {
        std::istringstream words(line);
        std::string macro, ta;
        PageField row;
        if (line.starts_with(".Ss ")) {
            part = line.substr(4);
        } else if (words >> macro >> row.offset >> ta >> row.size >> ta >> row.name &&
                   macro == ".It" && row.name != "reserved") {
            row.part = part;
            all.push_back(row);
        }
    }
    return all;
}

} // namespace

TEST_CASE("the manual page of the file's format has each field at its place") {
    const std::vector<PageField> documented = rows();
    REQUIRE(documented.size() == std::size(fields));
    for (std::size_t n = 0; n < documented.size(); ++n) {
        INFO(documented[n].part << " " << documented[n].name);
        CHECK(documented[n].part == fields[n].part);
        CHECK(documented[n].name == fields[n].name);
        CHECK(documented[n].offset == fields[n].offset);
        CHECK(documented[n].size == fields[n].size);
    }
}

TEST_CASE("the manual page of the file's format has each command") {
    const auto documented = numbered_rows();
    CHECK(std::ranges::equal(documented, commands));
}
