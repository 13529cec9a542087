#include "export/ctf_metadata.hpp"

#include "export/words.hpp"
#include "records/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>

namespace mmioscope::exporting {

namespace {

std::string tsdl_string(std::string_view text) {
    std::string to = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            to += '\\';
        }
        to += code < 0x20 || code >= 0x7f ? '?' : c;
    }
    return to + "\"";
}

std::string uuid_text(std::span<const std::uint8_t> uuid) {
    std::string text;
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    }
    return text;
}

constexpr char event_types[] = R"(
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 8; align = 8; signed = false; base = hex; } := x8;
typealias integer { size = 32; align = 8; signed = false; base = hex; } := x32;
typealias integer { size = 64; align = 8; signed = false; base = hex; } := x64;
typealias integer { size = 64; align = 8; signed = false; map = clock.counter.value; } := ticks;
)";

constexpr char stream[] = R"(
stream {
    packet.context := struct {
        ticks timestamp_begin;
        ticks timestamp_end;
        u64 content_size;
        u64 packet_size;
        u64 events_discarded;
        u32 cpu_id;
    };
    event.header := struct { u8 id; ticks timestamp; };
    event.context := struct { u32 sequence; string flags; };
};
)";

constexpr char placed[] = "device_name device; x64 offset; string register; u8 size; x64 value; "
                          "u8 value_known; string fields; x64 address; u64 duration_ns; u32 order; "
                          "x32 pc; string function; x32 lr; string caller; x32 sp; x32 va; "
                          "x8 mode; x32 task; u32 pid; string comm; string interrupt; string text;";
constexpr char lost[] = "u32 first_sequence; u64 count;";
constexpr char text[] = "string text;";
constexpr char plain[] = "x64 value; string text;";

void append_event(std::string& to, unsigned id, std::string_view name, std::string_view fields) {
    fmt::format_to(std::back_inserter(to),
                   "event {{ name = \"{}\"; id = {}; fields := struct {{ {} }}; }};\n", name, id,
                   fields);
}

std::string events() {
    std::string to;
    append_event(to, static_cast<unsigned>(abi::RecordType::access), "read", placed);
    append_event(to, ctf_write, "write", placed);
    append_event(to, ctf_unknown, "unknown", text);
    for (unsigned id = 2; id < trace::kinds.size(); ++id) {
        const trace::Kind& kind = trace::kinds[id];
        if (!kind.word.empty()) {
            append_event(to, id, kind.word,
                         kind.place                                          ? placed
                         : id == static_cast<unsigned>(abi::RecordType::gap) ? lost
                         : kind.value == trace::ValueIs::none                ? text
                                                                             : plain);
        }
    }
    return to;
}

std::string devices(const trace::TraceReader& reader) {
    std::string to = "typealias enum : integer { size = 16; align = 8; signed = false; } {\n";
    for (std::size_t i = 0; i < reader.regions().size(); ++i) {
        to += fmt::format("    {} = {},\n",
                          tsdl_string(reader.names()[static_cast<std::uint16_t>(i)]), i);
    }
    return to + fmt::format("    \"-\" = {}\n}} := device_name;\n", abi::no_device);
}

std::string environment(const trace::TraceReader& reader) {
    std::string to = "env {\n    tracer_name = \"mmioscope\";\n";
    if (reader.info()) {
        const char* const board = reader.info()->board;
        to += fmt::format("    board = {};\n",
                          tsdl_string({board, ::strnlen(board, sizeof reader.info()->board)}));
    }
    for (const auto& [key, value] : reader.text()) {
        std::string name = "text_" + key;
        std::replace_if(
            name.begin(), name.end(),
            [](unsigned char c) { return c >= 0x80 || std::isalnum(c) == 0; }, '_');
        to += fmt::format("    {} = {};\n", name, tsdl_string(value));
    }
    return to + "};\n";
}

} // namespace

std::vector<std::byte> ctf_packet_header(const trace::TraceReader& reader) {
    constexpr std::uint32_t magic = 0xc1fc1fc1;
    const std::span<const std::uint8_t> id = reader.boot_id();
    std::vector<std::byte> header(sizeof magic + id.size());
    std::memcpy(header.data(), &magic, sizeof magic);
    std::transform(id.begin(), id.end(), header.begin() + sizeof magic,
                   [](std::uint8_t byte) { return std::byte{byte}; });
    return header;
}

// The clock counts ticks from time 0; without a frequency they appear as nanoseconds.
std::string ctf_metadata(const trace::TraceReader& reader) {
    const std::uint32_t known = reader.info() ? reader.info()->counter_frequency : 0;
    const std::string uuid = uuid_text(reader.boot_id());
    const std::string head =
        fmt::format("trace {{\n    major = 1;\n    minor = 8;\n{}"
                    "    byte_order = le;\n    packet.header := struct {{ x32 magic;{} }};\n}};\n",
                    uuid.empty() ? "" : fmt::format("    uuid = \"{}\";\n", uuid),
                    uuid.empty() ? "" : " u8 uuid[16];");
    const std::string clock = fmt::format("clock {{\n    name = counter;\n    description = "
                                          "\"CNTPCT of the board, since the first record\";\n"
                                          "    freq = {};\n    offset = 0;\n}};\n",
                                          known == 0 ? 1'000'000'000 : known);
    return "/* CTF 1.8 */\n" + clock + event_types + head + environment(reader) + devices(reader) +
           stream + events();
}

} // namespace mmioscope::exporting
