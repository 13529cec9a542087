// Compressed traces are read like plain ones, and damage is reported.
#include "reading/trace.hpp"
#include "reading_all.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"

#include <unistd.h>
#include <zstd.h>

#include <thread>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

Bytes compressed(const Bytes& bytes) {
    Bytes result(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), 1);
    REQUIRE(ZSTD_isError(size) == 0);
    result.resize(size);
    return result;
}

ReadAll read(const Bytes& bytes) {
    MemorySource source(bytes);
    CompressedSource decompressed(source, bytes);
    return ReadAll(decompressed);
}

/// `bytes` as a file with a path.
struct File {
    explicit File(const Bytes& bytes) : file(memory_file("trace", 0)) {
        append(file.get(), bytes, "a test's file");
    }
    std::string path() const { return fmt::format("/proc/self/fd/{}", file.get()); }
    FileDescriptor file;
};

/// A zstd stream up to a flush of its writer, and the rest.
struct Flushed {
    Flushed(const Bytes& first, const Bytes& rest) {
        ZSTD_CCtx* const context = ZSTD_createCCtx();
        for (const auto& [bytes, to] : {std::pair(&first, &before), std::pair(&rest, &behind)}) {
            to->resize(ZSTD_compressBound(bytes->size()) + 64);
            ZSTD_inBuffer in{bytes->data(), bytes->size(), 0};
            ZSTD_outBuffer out{to->data(), to->size(), 0};
            REQUIRE(ZSTD_compressStream2(context, &out, &in,
                                         to == &before ? ZSTD_e_flush : ZSTD_e_end) == 0);
            to->resize(out.pos);
        }
        ZSTD_freeCCtx(context);
    }
    Bytes before, behind;
};

std::vector<std::byte> all_of(ByteSource& source) {
    Bytes bytes(1 << 20);
    bytes.resize(source.read(bytes.data(), bytes.size()));
    return bytes;
}

} // namespace

TEST_CASE("a compressed trace reads like the trace itself") {
    const Bytes whole = long_trace(20, 300);
    const ReadAll plain = [&] {
        MemorySource source(whole);
        return ReadAll(source);
    }();
    const ReadAll all = read(compressed(whole));
    CHECK(all.sound);
    CHECK(all.problems.empty());
    REQUIRE(all.records.size() == plain.records.size());
    CHECK(std::memcmp(all.records.data(), plain.records.data(), all.records.size() * 64) == 0);
    // In two frames, as from two concatenated files.
    Bytes frames = compressed(Bytes(whole.begin(), whole.begin() + 5000));
    const Bytes second = compressed(Bytes(whole.begin() + 5000, whole.end()));
    frames.insert(frames.end(), second.begin(), second.end());
    CHECK(read(frames).sound);
}

TEST_CASE("a compressed trace that is cut reads as a cut trace") {
    const Bytes bytes = compressed(long_trace(3, 4));
    std::size_t most = 0;
    for (std::size_t size = 4; size < bytes.size(); ++size) {
        try {
            const ReadAll part = read(Bytes(bytes.begin(), bytes.begin() + std::ptrdiff_t(size)));
            REQUIRE(!part.sound);
            REQUIRE(part.problems.size() == 1);
            REQUIRE(part.problems[0] == "the compressed data is cut off");
            REQUIRE(part.records.size() >= most);
            most = part.records.size();
        } catch (const Error& error) { // nothing was read
            REQUIRE(error.status() == Status::bad_input);
            REQUIRE(most == 0);
        }
    }
}

TEST_CASE("a flipped byte of a compressed trace never makes a wrong record look right") {
    const Bytes whole = compressed(long_trace(3, 4));
    unsigned reported = 0;
    for (std::size_t at = 4; at < whole.size(); ++at) {
        for (const unsigned mask : {0x01u, 0x80u}) {
            Bytes bytes = whole;
            bytes[at] ^= std::byte(mask);
            try {
                const ReadAll part = read(bytes); // checks each record
                REQUIRE(part.records.size() <= 12);
                reported += part.problems.empty() ? 0 : 1;
            } catch (const Error& error) {
                REQUIRE(error.status() == Status::bad_input);
                REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
                ++reported;
            }
        }
    }
    CHECK(reported > whole.size()); // of two flips for each byte
}

TEST_CASE("garbage after zstd's magic is refused in one line") {
    Bytes bytes = compressed(long_trace(1, 4));
    std::fill(bytes.begin() + 4, bytes.end(), std::byte{0xff});
    MemorySource source(bytes);
    CompressedSource decompressed(source, bytes);
    CHECK_THROWS_WITH(ReadAll(decompressed),
                      Catch::Contains("compressed data is damaged") && !Catch::Contains("\n"));
}

TEST_CASE("a file is decompressed if it begins like zstd") {
    const Bytes whole = long_trace(3, 4);
    for (const Bytes& bytes : {whole, compressed(whole)}) {
        const File file(bytes);
        CHECK(all_of(*open_source(file.path())) == whole);
    }
    for (const std::size_t size : {0u, 1u, 3u, 4u, 5u}) {
        const Bytes few(whole.begin(), whole.begin() + std::ptrdiff_t(size));
        const File file(few);
        CHECK(all_of(*open_source(file.path())) == few);
    }
    const File plain(whole);
    const File packed(compressed(whole));
    CHECK(open_source(plain.path())->size() == whole.size());
    CHECK(!open_source(packed.path())->size());
}

TEST_CASE("a pipe is read like a file") {
    const Bytes whole = long_trace(3, 4);
    for (const Bytes& bytes : {whole, compressed(whole)}) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        FileDescriptor out(ends[0]);
        std::thread writer(
            [&, in = FileDescriptor(ends[1])] { append(in.get(), bytes, "a pipe"); });
        const auto source = open_source(fmt::format("/proc/self/fd/{}", out.get()));
        CHECK(!source->size());
        CHECK(all_of(*source) == whole);
        writer.join();
    }
}

TEST_CASE("everything available is read from a compressed trace that grows") {
    const Bytes whole = long_trace(4, 10);
    const std::ptrdiff_t end = 64; // the last section has at least this many bytes
    const Flushed parts(Bytes(whole.begin(), whole.end() - end),
                        Bytes(whole.end() - end, whole.end()));
    const bool piped = GENERATE(false, true);
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    const FileDescriptor out(ends[0]);
    FileDescriptor in(ends[1]);
    const File file(piped ? Bytes() : parts.before);
    if (piped) {
        append(in.get(), parts.before, "a pipe");
    }
    unsigned count = 0;
    unsigned waits = 0;
    std::optional<unsigned> before;
    reading::TraceOptions options;
    options.path = piped ? fmt::format("/proc/self/fd/{}", out.get()) : file.path();
    options.wait = [&] {
        if (!before) {
            before = count;
            append(piped ? in.get() : file.file.get(), parts.behind, "a test's file");
        }
        return ++waits < 20;
    };
    reading::Trace trace(options);
    for (; trace.next() != nullptr; ++count) {
    }
    CHECK(before == 40);
    CHECK(count == 40);
    CHECK(trace.reader().sound());
}

TEST_CASE("events are selected by a range of time and by CPU") {
    const Bytes whole = long_trace(30, 300); // 1 tick is 1 us; the first record is at 1000
    for (const Bytes& bytes : {whole, compressed(whole)}) {
        const File file(bytes);
        reading::TraceOptions options;
        options.path = file.path();
        options.from = 20'000'000;
        options.to = 20'100'000;
        const auto events = [](const reading::TraceOptions& wanted) {
            std::vector<Event> all;
            reading::Trace trace(wanted);
            while (const Event* event = trace.next()) {
                all.push_back(*event);
            }
            CHECK(trace.reader().end());
            CHECK(trace.reader().sound());
            return all;
        };
        const auto in_order = [](const Event& a, const Event& b) {
            return a.nanoseconds < b.nanoseconds;
        };
        const std::vector<Event> both = events(options);
        CHECK(both.size() == 10);
        const auto [least, most] = std::minmax_element(both.begin(), both.end(), in_order);
        CHECK(least->nanoseconds == 20'000'000);
        CHECK(most->nanoseconds == 20'090'000);
        options.cpus = {1};
        CHECK(events(options).size() == 5);
        options.from.reset();
        CHECK(events(options).size() == 1005);
        options.to.reset();
        options.cpus = {};
        CHECK(events(options).size() == 9000);
        options.from = UINT64_MAX;
        CHECK(events(options).empty());
    }
}
