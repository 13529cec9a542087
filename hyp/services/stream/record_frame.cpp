#include "stream/record_frame.hpp"

#include "abi/coded_size.hpp"
#include "base/check.hpp"

#include <cstring>

namespace mmioscope {

namespace {

constexpr std::size_t bits_offset = sizeof(abi::FrameHeader) + sizeof(abi::RecordsHeader);
constexpr std::size_t bits_room =
    abi::max_frame - bits_offset - (abi::frame_overhead - sizeof(abi::FrameHeader));
/// With more bytes a frame is closed: a longer one would lose more if it is damaged, and a shorter
/// one has to teach its model more often.
constexpr std::size_t bits_full = 3820;
/// There is always room for one more record, and a fold record before it, even if a guest has made
/// both as long as it can. The encoder holds back up to four bytes.
static_assert(bits_full + 2 * abi::max_coded_record + 4 <= bits_room);

} // namespace

void RecordFrame::open(std::uint8_t* bytes, abi::FrameHeader header, unsigned time_shift) {
    bytes_ = bytes;
    count_ = 0;
    total_ = 0;
    folder_.forget();
    time_shift_ = time_shift;
    std::memcpy(bytes, &header, sizeof header);
    encoder_.start(bytes + bits_offset, bits_room);
    model_.clear();
}

bool RecordFrame::add(abi::Record& record) {
    ++total_;
    if (!folder_.folds()) {
        code(record);
    } else if (!folder_.add(record)) {
        if (folder_.counted() != 0) code_counted();
        folder_.sent(record);
        code(record);
    }
    return encoder_.size() <= bits_full && total_ < abi::max_in_frame;
}

void RecordFrame::code_counted() {
    abi::Record counted = folder_.take();
    code(counted);
}

void RecordFrame::code(abi::Record& record) {
    abi::RecordCodec<abi::Encoder>(encoder_, model_, time_shift_).code(record);
    ++count_;
}

std::size_t RecordFrame::close() {
    if (folder_.counted() != 0) code_counted();
    const std::size_t size = encoder_.finish();
    check(size <= bits_room, "a frame of the stream is too long");
    const abi::RecordsHeader header{static_cast<std::uint16_t>(count_),
                                    static_cast<std::uint8_t>(time_shift_), 0};
    std::memcpy(bytes_ + sizeof(abi::FrameHeader), &header, sizeof header);
    bytes_ = nullptr;
    return bits_offset + size;
}

} // namespace mmioscope
