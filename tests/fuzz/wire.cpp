// A stream is input: the result must be the content of its sound frames, whatever is between them,
// and in whatever pieces the bytes arrive. An input that begins with 1 has the contents of frames:
// they get the checksums that random bytes would never match.
#include "host-tools/stream_maker.hpp"
#include "system/error.hpp"
#include "wire/wire_decoder.hpp"

#include <cstdlib>

namespace {

using namespace mmioscope;

struct Heard : wire::WireSink {
    unsigned cpus = 0;
    std::uint64_t records_heard = 0;

    void hello(const wire::StreamHead& head) override {
        cpus = head.info.cpu_count;
        if (cpus > abi::max_cpus || head.regions.size() > abi::max_regions) std::abort();
    }
    void records(std::span<const abi::Record> records) override {
        for (const abi::Record& record : records)
            if (record.cpu >= cpus) std::abort();
        records_heard += records.size();
    }
    void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) override {
        if (statistics.size() != end.cpu_count) std::abort();
    }
};

/// The records, or ~0 if the stream has a newer version.
std::uint64_t listen(std::span<const std::byte> wire, std::size_t piece) {
    Heard heard;
    wire::WireDecoder decoder(heard);
    try {
        for (; !wire.empty(); wire = wire.subspan(std::min(piece, wire.size())))
            decoder.feed(wire.first(std::min(piece, wire.size())));
        decoder.finish();
    } catch (const Error&) {
        return ~std::uint64_t{0};
    }
    return heard.records_heard;
}

/// Frames, each from a type, a length and a payload.
test::Wire sound_frames(std::span<const std::uint8_t> contents) {
    test::StreamMaker maker;
    while (contents.size() >= 3) {
        const auto type = static_cast<abi::FrameType>(contents[0]);
        const std::size_t announced = contents[1] | contents[2] << 8;
        contents = contents.subspan(3);
        const auto payload =
            contents.first(std::min({announced, contents.size(), std::size_t{4000}}));
        maker.frame(type, {payload.begin(), payload.end()});
        contents = contents.subspan(payload.size());
    }
    return maker.wire();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bool contents = size > 0 && data[0] == 1;
    const test::Wire made = contents ? sound_frames({data + 1, size - 1}) : test::Wire{};
    const auto wire = contents ? std::span(made) : std::as_bytes(std::span(data, size));
    if (listen(wire, 4096) != listen(wire, 7)) std::abort();
    return 0;
}
