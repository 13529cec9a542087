#include "export/ctf_stream.hpp"

namespace mmioscope::exporting {

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
