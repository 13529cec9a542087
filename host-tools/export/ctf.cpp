#include "export/ctf.hpp"

#include "export/columns.hpp"
#include "records/kinds.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>

namespace mmioscope::exporting {

using abi::RecordType;

namespace {

std::uint8_t id_of(const abi::Record& record) {
    if (record.type == RecordType::access && abi::is_write(record)) {
        return ctf_write;
    }
    return trace::kind_of(record.type).word.empty() ? ctf_unknown
                                                    : static_cast<std::uint8_t>(record.type);
}

// Without characters that a text cannot have. An empty one becomes "-": babeltrace2 up to 2.0.4
// would show the previous text instead.
std::string_view shown(std::string_view text) {
    text = text.substr(0, text.find('\0'));
    return text.empty() ? "-" : text;
}

std::string string(std::string_view text) {
    return std::string(shown(text)) + '\0';
}

/// The fields `text`, `payload` and `note`.
std::string texts(const Event& event) {
    return string(plain_text(event.text())) + string(payload_words(event)) + string(event.note());
}

template <typename... T>
std::string bytes(const T&... numbers) {
    static_assert((std::is_trivially_copyable_v<T> && ...));
    std::string text;
    (text.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
    return text;
}

struct [[gnu::packed]] Value {
    std::uint64_t value;
    std::uint8_t known;
};

struct [[gnu::packed]] Access {
    std::uint64_t address;
    std::uint64_t duration_ns;
    std::uint32_t order;
    std::uint32_t pc;
};

constexpr std::size_t most_numbers = 74; ///< bytes of an event outside its texts

} // namespace

Ctf::Ctf(std::filesystem::path folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)),
      values_([](const Event& event) { return string(field_words(event)); }),
      interrupts_([](const Event& event) { return string(event.interrupt()); }),
      flags_([](const Event& event) { return string(flag_words(event.record)); }) {
    std::error_code error;
    if (!std::filesystem::create_directory(folder_, error)) {
        throw bad_input("cannot write {}: {}", name_, error.message());
    }
}

void Ctf::begin(const trace::TraceReader& reader) {
    header_ = ctf_packet_header(reader);
    start_ = reader.start().value_or(0);
    tick_ = trace::TickLength(reader.info() ? reader.info()->counter_frequency : 0);
    const FileDescriptor file = create_output((folder_ / "metadata").string());
    const std::string metadata = ctf_metadata(reader);
    append(file.get(), std::as_bytes(std::span(metadata.data(), metadata.size())), name_.c_str());
}

[[gnu::noinline]] CtfStream& Ctf::begin_stream(std::uint8_t cpu) {
    streams_[cpu] =
        std::make_unique<CtfStream>(folder_ / fmt::format("cpu{}", cpu), name_, header_, cpu);
    return *streams_[cpu];
}

inline CtfStream& Ctf::stream(std::uint8_t cpu) {
    CtfStream* const begun = streams_[cpu].get();
    return begun != nullptr ? *begun : begin_stream(cpu);
}

void Ctf::make(OfContext& to, const Event& event) const {
    const abi::Record& r = event.record;
    const Task* const task = event.task();
    std::string place = bytes(event.device() == "-" ? abi::no_device : r.device, event.offset()) +
                        string(event.reg() == nullptr ? std::string_view() : event.reg()->name) +
                        bytes(static_cast<std::uint8_t>(abi::access_size(r)));
    to.value_at = static_cast<std::uint32_t>(place.size());
    to.place = Piece(place + bytes(Value()));
    to.value = values_.of_context(event);
    std::string code =
        bytes(Access{abi::physical_address(r), 0, 0, r.pc}) + string(code_words(event.code()));
    to.lr_at = static_cast<std::uint32_t>(code.size());
    code += bytes(r.lr) + string(code_words(event.caller()));
    to.stack_at = static_cast<std::uint32_t>(code.size());
    code += bytes(r.sp, r.va, r.mode, r.task, task == nullptr ? 0u : task->pid) +
            string(task == nullptr ? std::string_view() : task->comm);
    to.code = Piece(code);
    to.size = to.place.size() + values_.most(to.value) + to.code.size();
}

inline Ctf::OfContext& Ctf::context(const Event& event) {
    if (event.record.type == RecordType::access && event.context() != 0) {
        return contexts_.of(event.context(), [&](OfContext& kept) { make(kept, event); });
    }
    make(other_, event);
    return other_;
}

void Ctf::add_place(CtfStream& stream, const Event& event) {
    const abi::Record& r = event.record;
    const OfContext& of = context(event);
    const Piece* const value = values_.find(event, of.value);
    const auto& flags = flags_.of(event);
    const auto& interrupt = interrupts_.of(event);
    const bool has_text = event.text_id() != no_id || abi::goes_on(r) || !event.note().empty();
    if (has_text) {
        texts_ = texts(event);
    }
    TextCursor to = stream.event(id_of(r), since_start(r.time),
                                 most_numbers + flags.size() + of.size +
                                     (value != nullptr ? value->size() : 0) + interrupt.size() +
                                     (has_text ? texts_.size() : 0));
    to.append_bytes(r.cpu_sequence);
    to.append_any(flags);
    char* const place = to.at();
    to.append(of.place);
    TextCursor::put_bytes(place + of.value_at,
                          Value{r.value, static_cast<std::uint8_t>(has_bus_value(r) ? 1 : 0)});
    if (value != nullptr) {
        to.append(*value);
    } else {
        to = values_.append(to, event, of.value);
    }
    char* const code = to.at();
    to.append(of.code);
    TextCursor::put_bytes(code + offsetof(Access, duration_ns), tick_.nanoseconds(r.duration));
    TextCursor::put_bytes(code + offsetof(Access, order), r.lock_sequence);
    TextCursor::put_bytes(code + of.lr_at, r.lr);
    TextCursor::put_bytes(code + of.stack_at, std::array{r.sp, r.va});
    to.append_any(interrupt);
    if (!has_text) { // the usual case
        to.append_bytes(std::array{'-', '\0', '-', '\0', '-', '\0'});
    } else {
        to.append(std::string_view(texts_));
    }
    stream.end(to);
}

void Ctf::add(const Event& event) {
    const abi::Record& r = event.record;
    CtfStream& to = stream(r.cpu);
    if (trace::has_place(r.type)) {
        add_place(to, event);
        return;
    }
    const bool lost = r.type == RecordType::gap;
    if (lost) {
        to.discard(r.value);
    }
    const std::string flags = string(flag_words(r)); // not kept: a payload has no Record::access
    const bool executed = trace::has_instruction(r.type);
    const std::string text =
        (executed ? string(code_words(event.code())) + string(code_words(event.caller())) : "") +
        texts(event);
    TextCursor at =
        to.event(id_of(r), since_start(r.time), most_numbers + flags.size() + text.size());
    at.append_bytes(r.cpu_sequence);
    at.append(flags);
    if (lost) {
        at.append_bytes(r.cpu_sequence);
    }
    if (trace::kind_of(r.type).value != trace::ValueIs::none) {
        at.append_bytes(r.value);
    }
    if (executed) {
        at.append_bytes(std::array{r.pc, r.sp, r.task});
    }
    if (!lost) {
        at.append(std::string_view(text));
    }
    to.end(at);
}

void Ctf::add_all(std::span<const Event> events) {
    Event::resolve(events);
    for (const Event& event : events) {
        if (event.record.type == RecordType::access) [[likely]] {
            add_place(stream(event.record.cpu), event);
        } else {
            add(event);
        }
    }
}

void Ctf::finish() {
    for (const std::unique_ptr<CtfStream>& stream : streams_) {
        if (stream) {
            stream->finish();
        }
    }
}

std::vector<std::string> Ctf::left_out() const {
    std::uint64_t moved = 0;
    for (const std::unique_ptr<CtfStream>& stream : streams_) {
        moved += stream ? stream->moved() : 0;
    }
    return moved == 0 ? std::vector<std::string>()
                      : std::vector{fmt::format(
                            "ctf: {} events that were earlier than the previous one have its time",
                            moved)};
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
                          "x8 mode; x32 task; u32 pid; string comm; string interrupt; string text; "
                          "string payload; string note;";
constexpr char lost[] = "u32 first_sequence; u64 count;";
constexpr char of_code[] = "x32 pc; x32 sp; x32 task; string function; string caller; string text; "
                           "string payload; string note;";
constexpr char text[] = "string text; string payload; string note;";
constexpr char plain[] = "x64 value; string text; string payload; string note;";

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
                         kind.is(trace::Is::placed)                                          ? placed
                         : id == static_cast<unsigned>(abi::RecordType::gap) ? lost
                         : kind.is(trace::Is::executed)                      ? of_code
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

namespace {

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

} // namespace

CtfStream::CtfStream(const std::filesystem::path& path, const std::string& name,
                     const std::vector<std::byte>& header, std::uint32_t cpu)
    : file_(create_output(path.string())), name_(name), header_(header), cpu_(cpu) {}

void CtfStream::discard(std::uint64_t count) {
    if (packet_.size() != 0) {
        end_packet();
    }
    discarded_ += count;
}

void CtfStream::end_packet() {
    const std::uint64_t bits = (header_.size() + sizeof(PacketContext) + packet_.size()) * 8;
    const PacketContext context{
        packet_.size() == 0 ? last_ : first_, last_, bits, bits, discarded_, cpu_};
    append(file_.get(), header_, name_.c_str());
    append(file_.get(), std::as_bytes(std::span(&context, 1)), name_.c_str());
    append(file_.get(), std::as_bytes(std::span(packet_.view())), name_.c_str());
    packet_.clear();
    written_discarded_ = discarded_;
}

void CtfStream::finish() {
    if (packet_.size() != 0 || written_discarded_ != discarded_) {
        end_packet();
    }
}

} // namespace mmioscope::exporting
