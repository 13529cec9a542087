// Common Trace Format 1.8: a folder with a description and a stream for each CPU.
#include "export/formats.hpp"

#include "export/row_text.hpp"
#include "records/kinds.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "system/text_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::exporting {

using abi::RecordType;

namespace {

// The description of a CTF trace (Common Trace Format 1.8, in TSDL): its packets, clock and events.

/// Event ids: those of record types, and of accesses that store. All types newer than this program
/// share one id.
constexpr std::uint8_t ctf_write = 64;
constexpr std::uint8_t ctf_unknown = 65;

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
)";

std::string members(abi::RecordType type, std::size_t first, std::size_t end) {
    std::string to;
    for (std::size_t i = first; i < end; ++i) {
        if (ctf_has(type, i)) {
            to += fmt::format("{} {}; ", ctf_members[i].type, ctf_columns[i].column);
        }
    }
    return to;
}

void append_event(std::string& to, unsigned id, std::string_view name, abi::RecordType type) {
    fmt::format_to(std::back_inserter(to),
                   "event {{ name = \"{}\"; id = {}; fields := struct {{ {}}}; }};\n", name, id,
                   members(type, ctf_context, ctf_columns.size()));
}

std::string events() {
    std::string to = fmt::format("    event.context := struct {{ {}}};\n}};\n",
                                 members(abi::RecordType::access, 0, ctf_context));
    append_event(to, static_cast<unsigned>(abi::RecordType::access), "read",
                 abi::RecordType::access);
    append_event(to, ctf_write, "write", abi::RecordType::access);
    append_event(to, ctf_unknown, "unknown", abi::RecordType{255});
    for (unsigned id = 2; id < trace::kinds.size(); ++id) {
        if (!trace::kinds[id].word.empty()) {
            append_event(to, id, trace::kinds[id].word, static_cast<abi::RecordType>(id));
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

/// The start of each packet: the magic number and, if known, the boot's id as UUID.
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

// The packet context, as the metadata describes it; follows the packet header.
struct [[gnu::packed]] PacketContext {
    std::uint64_t timestamp_begin;
    std::uint64_t timestamp_end;
    std::uint64_t content_size; ///< of the packet, in bits
    std::uint64_t packet_size;
    std::uint64_t events_discarded;
    std::uint32_t cpu_id;
};
static_assert(sizeof(PacketContext) == 44);

/// One stream file of a CTF trace: the events of one CPU, in packets.
class CtfStream {
public:
    /// `header`: the start of each packet.
    CtfStream(const std::filesystem::path& path, const std::string& name,
              const std::vector<std::byte>& header, std::uint32_t cpu)
        : file_(create_output(path.string())), name_(name), header_(header), cpu_(cpu) {}

    /// Begins an event; append its members, in order, to the result. Times do not go back: an
    /// earlier time is replaced by the previous one, and counted.
    TextBuffer& event(std::uint8_t id, std::uint64_t time) {
        if (packet_.size() >= enough) {
            end_packet();
        }
        moved_ += time < last_ ? 1 : 0;
        last_ = std::max(last_, time);
        if (packet_.size() == 0) {
            first_ = last_;
        }
        TextCursor at = packet_.cursor(sizeof(EventHeader));
        at.append_bytes(EventHeader{id, last_});
        packet_.end(at);
        return packet_;
    }

    /// Ends the packet; the next one says that `count` events are missing.
    void discard(std::uint64_t count) {
        if (packet_.size() != 0) {
            end_packet();
        }
        discarded_ += count;
    }
    void finish() {
        if (packet_.size() != 0 || written_discarded_ != discarded_) {
            end_packet();
        }
    }

    std::uint64_t moved() const { return moved_; }

private:
    struct [[gnu::packed]] EventHeader {
        std::uint8_t id;
        std::uint64_t timestamp;
    };
    static_assert(sizeof(EventHeader) == 9);

    void end_packet() {
        const std::uint64_t bits = (header_.size() + sizeof(PacketContext) + packet_.size()) * 8;
        const PacketContext context{
            packet_.size() == 0 ? last_ : first_, last_, bits, bits, discarded_, cpu_};
        append(file_.get(), header_, name_.c_str());
        append(file_.get(), std::as_bytes(std::span(&context, 1)), name_.c_str());
        append(file_.get(), std::as_bytes(std::span(packet_.view())), name_.c_str());
        packet_.clear();
        written_discarded_ = discarded_;
    }

    static constexpr std::size_t enough = 1 << 16;

    FileDescriptor file_;
    std::string name_;
    std::vector<std::byte> header_;
    std::uint32_t cpu_;
    TextBuffer packet_;       ///< the packet's events
    std::uint64_t first_ = 0; ///< time of the packet's first event
    std::uint64_t last_ = 0;
    std::uint64_t discarded_ = 0;
    std::uint64_t written_discarded_ = 0; ///< the part of discarded_ that is in written packets
    std::uint64_t moved_ = 0;
};

std::uint8_t id_of(const abi::Record& record) {
    if (record.type == RecordType::access && abi::is_write(record)) {
        return ctf_write;
    }
    return trace::kind_of(record.type).word.empty() ? ctf_unknown
                                                    : static_cast<std::uint8_t>(record.type);
}

class Ctf : public Exporter {
public:
    /// Fills `folder`, whose name in errors is `name`.
    Ctf(std::filesystem::path folder, std::string name)
        : folder_(std::move(folder)), name_(std::move(name)) {
        std::error_code error;
        if (!std::filesystem::create_directory(folder_, error)) {
            throw bad_input("cannot write {}: {}", name_, error.message());
        }
    }

    void begin(const trace::TraceReader& reader) override {
        header_ = ctf_packet_header(reader);
        start_ = reader.start().value_or(0);
        rows_.emplace(RowForm::ctf, Cells(reader));
        const FileDescriptor file = create_output((folder_ / "metadata").string());
        const std::string metadata = ctf_metadata(reader);
        append(file.get(), std::as_bytes(std::span(metadata.data(), metadata.size())),
               name_.c_str());
    }

    // As in all formats, a time before the start becomes 0.
    void add(const Event& event) override {
        const abi::Record& r = event.record;
        CtfStream& to = stream(r.cpu);
        if (r.type == RecordType::gap) {
            to.discard(r.value);
        }
        rows_->append(to.event(id_of(r), r.time - std::min(r.time, start_)), event);
    }

    void add_all(std::span<const Event> events) override {
        Event::resolve(events);
        for (const Event& event : events) {
            add(event);
        }
    }
    void forget() override { rows_->forget(); }

    void finish() override {
        for (const std::unique_ptr<CtfStream>& stream : streams_) {
            if (stream) {
                stream->finish();
            }
        }
    }

    std::vector<std::string> left_out() const override {
        std::uint64_t moved = 0;
        for (const std::unique_ptr<CtfStream>& stream : streams_) {
            moved += stream ? stream->moved() : 0;
        }
        return moved == 0
                   ? std::vector<std::string>()
                   : std::vector{fmt::format(
                         "ctf: {} events that were earlier than the previous one have its time",
                         moved)};
    }

private:
    CtfStream& begin_stream(std::uint8_t cpu) {
        streams_[cpu] =
            std::make_unique<CtfStream>(folder_ / fmt::format("cpu{}", cpu), name_, header_, cpu);
        return *streams_[cpu];
    }

    CtfStream& stream(std::uint8_t cpu) {
        CtfStream* const begun = streams_[cpu].get();
        return begun != nullptr ? *begun : begin_stream(cpu);
    }

    std::filesystem::path folder_;
    std::string name_;
    std::uint64_t start_ = 0;
    std::vector<std::byte> header_;                                     ///< of packets
    std::array<std::unique_ptr<CtfStream>, 256> streams_;               ///< by CPU
    std::optional<RowText> rows_{std::in_place, RowForm::ctf, Cells()}; ///< of the trace in begin()
};

} // namespace

std::unique_ptr<Exporter> make_ctf(const std::filesystem::path& folder, const std::string& name) {
    return std::make_unique<Ctf>(folder, name);
}

bool is_ctf_trace(const std::filesystem::path& folder) {
    bool metadata = false;
    bool other = false;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        metadata = metadata || name == "metadata";
        other = other || (name != "metadata" && !name.starts_with("cpu"));
    }
    return !other && (metadata || std::filesystem::is_empty(folder));
}

} // namespace mmioscope::exporting
