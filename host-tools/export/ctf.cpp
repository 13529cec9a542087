#include "export/ctf.hpp"

#include "export/words.hpp"
#include "lib/error.hpp"
#include "lib/record_text.hpp"

namespace mmioscope::exporting {

using abi::RecordType;

namespace {

std::uint8_t id_of(const abi::Record& record) {
    if (record.type == RecordType::access && abi::is_write(record)) {
        return ctf_write;
    }
    const bool known = record.type <= RecordType::task && record.type != RecordType::none;
    return known ? static_cast<std::uint8_t>(record.type) : ctf_unknown;
}

void put_place(CtfStream& to, const Event& event) {
    const abi::Record& r = event.record;
    to.put(event.device() == "-" ? abi::no_device : r.device);
    to.put(event.offset());
    to.put(event.reg() == nullptr ? std::string_view() : std::string_view(event.reg()->name));
    to.put(static_cast<std::uint8_t>(abi::access_size(r)));
    to.put(r.value);
    to.put(static_cast<std::uint8_t>(has_bus_value(r) ? 1 : 0));
    to.put(field_words(event));
    to.put(abi::physical_address(r));
    to.put(r.duration);
    to.put(r.lock_sequence);
    to.put(r.pc);
    to.put(code_words(event.code()));
    to.put(r.lr);
    to.put(code_words(event.caller()));
    to.put(r.sp);
    to.put(r.va);
    to.put(r.mode);
    to.put(r.task);
    to.put(event.task() == nullptr ? 0u : event.task()->pid);
    to.put(event.task() == nullptr ? std::string_view() : std::string_view(event.task()->comm));
    to.put(event.interrupt());
    to.put(plain_text(event.text()));
}

} // namespace

Ctf::Ctf(std::filesystem::path folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)) {
    std::error_code error;
    if (!std::filesystem::create_directory(folder_, error)) {
        throw bad_input("cannot write {}: {}", name_, error.message());
    }
}

void Ctf::begin(const trace::TraceReader& reader) {
    header_ = ctf_packet_header(reader);
    const FileDescriptor file = create_output((folder_ / "metadata").string());
    const std::string metadata = ctf_metadata(reader);
    append(file.get(), std::as_bytes(std::span(metadata.data(), metadata.size())), name_.c_str());
}

CtfStream& Ctf::stream(std::uint8_t cpu) {
    const auto known = streams_.find(cpu);
    return known != streams_.end()
               ? known->second
               : streams_.try_emplace(cpu, folder_ / fmt::format("cpu{}", cpu), name_, header_, cpu)
                     .first->second;
}

void Ctf::add(const Event& event) {
    const abi::Record& r = event.record;
    CtfStream& to = stream(r.cpu);
    if (r.type == RecordType::gap) {
        to.discard(r.value);
    }
    to.event(id_of(r), r.time);
    to.put(r.cpu_sequence);
    to.put(flag_words(r));
    if (r.type == RecordType::gap) {
        to.put(r.cpu_sequence);
        to.put(r.value);
    } else if (trace::has_place(r.type)) {
        put_place(to, event);
    } else {
        to.put(r.value);
        to.put(plain_text(event.text()));
    }
}

void Ctf::finish() {
    for (auto& [cpu, stream] : streams_) {
        stream.finish();
    }
}

std::vector<std::string> Ctf::left_out() const {
    std::uint64_t moved = 0;
    for (const auto& [cpu, stream] : streams_) {
        moved += stream.moved();
    }
    return moved == 0 ? std::vector<std::string>()
                      : std::vector{fmt::format(
                            "ctf: {} events earlier than the one before have its time", moved)};
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
