#include "wire_output.hpp"

#include "announced.hpp"
#include "base/check.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace mmioscope {

// The hypervisor's code calls this for what it takes for impossible: here it ends the recording.
void panic(const char* what) {
    throw failure("{}", what);
}

} // namespace mmioscope

namespace mmioscope::guest {

std::size_t repeat_from(std::span<const std::uint8_t> bytes, std::size_t done) {
    if (done < bytes.size() && bytes[done] == 0) {
        return done; // a whole frame without the zero after it
    }
    const auto taken = bytes.first(done);
    const auto begin = std::find(taken.rbegin(), taken.rend(), 0).base();
    return static_cast<std::size_t>(begin - taken.begin());
}

WireOutput::WireOutput(Sink sink, const rings::Area& area) : sink_(std::move(sink)) {
    std::memcpy(&boot_, area.header().boot_id, sizeof boot_);
    describe(area);
    (void)bytes_.put(0); // ends what came before
    send_description();
    write();
}

/// The description is made from an area: a copy of the beginning of this one.
void WireOutput::describe(const rings::Area& area) {
    struct Head {
        abi::AreaHeader header;
        abi::RegionEntry regions[abi::max_regions];
    };
    const auto head = std::make_unique<Head>();
    head->header = area.header();
    head->header.regions_offset = offsetof(Head, regions);
    std::copy(area.regions().begin(), area.regions().end(), head->regions);
    description_.start(head->header, 0);
    for (const auto& [name, path] : device_tree_aliases()) {
        description_.add_alias(name.c_str(), path.c_str());
    }
    description_.pack();
    distance_ = abi::hello_share * description_.size();
}

void WireOutput::append(std::span<const abi::Record> records) {
    for (abi::Record record : records) {
        if (!frame_.is_open()) {
            frame_.open(records_, header(abi::FrameType::records), 0);
        }
        if (!frame_.add(record)) {
            close_frame();
        }
    }
}

void WireOutput::flush() {
    close_frame();
    if (since_description_ >= distance_ || Clock::now() >= next_description_) {
        send_description();
    }
    write();
}

// The description goes before the end, for a listener who has missed it. Sends both again if the
// line breaks meanwhile: an end alone means nothing to a new listener.
void WireOutput::finish(const Closing& closing) {
    close_frame();
    write();
    constexpr unsigned most = 4;
    unsigned breaks = sink_.breaks() + 1;
    for (unsigned n = 0; n < most && breaks != sink_.breaks(); ++n) {
        breaks = sink_.breaks();
        send_description();
        send_end(closing);
        write();
    }
    sink_.finish();
}

void WireOutput::send_end(const Closing& closing) {
    const abi::FrameHeader head = header(abi::FrameType::end);
    const auto cpus = static_cast<std::uint32_t>(closing.next_sequence.size());
    abi::EndHeader end{abi::StreamEnd::stopped, cpus, {}};
    std::copy(closing.next_sequence.begin(), closing.next_sequence.end(), end.next_sequence);
    const std::size_t statistics = cpus * sizeof(abi::Statistics);
    std::memcpy(other_, &head, sizeof head);
    std::memcpy(other_ + sizeof head, &end, sizeof end);
    std::memcpy(other_ + sizeof head + sizeof end, closing.statistics.data(), statistics);
    send(other_, sizeof head + sizeof end + statistics);
}

abi::FrameHeader WireOutput::header(abi::FrameType type) {
    return {type, abi::wire_version, sequence_++, boot_};
}

void WireOutput::close_frame() {
    if (frame_.is_open()) {
        send(records_, frame_.close());
    }
}

/// `frame` has room for the CRC after it.
void WireOutput::send(std::uint8_t* frame, std::size_t size) {
    constexpr std::size_t enough = 64 * 1024;
    since_description_ += size;
    sender_.start(frame, size);
    while (!sender_.done()) {
        sender_.pump(bytes_, abi::max_frame);
    }
    if (bytes_.all.size() >= enough) {
        write();
    }
}

void WireOutput::send_description() {
    next_description_ =
        Clock::now() + std::chrono::seconds(abi::hello_interval); // or sooner: write()
    if (since_description_ >= distance_) {
        distance_ *= 2;
    }
    since_description_ = 0;
    for (unsigned piece = 0; piece < description_.pieces(); ++piece) {
        const abi::FrameHeader head = header(abi::FrameType::hello);
        std::memcpy(other_, &head, sizeof head);
        send(other_, sizeof head + description_.write_piece(piece, other_ + sizeof head));
    }
}

void WireOutput::write() {
    for (std::size_t done = sink_.write(bytes_.all); done < bytes_.all.size();
         done = sink_.write(bytes_.all)) {
        begin_again(done);
    }
    bytes_.all.clear();
}

/// The line broke after `done` bytes. The listener may be a new one. It gets the description after
/// the waiting frames, because these have their numbers already.
void WireOutput::begin_again(std::size_t done) {
    std::vector<std::uint8_t>& all = bytes_.all;
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(repeat_from(all, done)));
    all.insert(all.begin(), 0); // ends what came before
    next_description_ = Clock::now();
}

std::string WireOutput::doubt() const {
    return sink_.breaks() == 0
               ? ""
               : fmt::format("the connection was lost {} times; the other side knows what it lacks",
                             sink_.breaks());
}

} // namespace mmioscope::guest
