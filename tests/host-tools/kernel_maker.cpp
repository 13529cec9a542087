#include "catch_2_or_3.hpp"
#include "kernel_maker.hpp"

#include <lz4hc.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <string_view>

namespace mmioscope::test {

namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937;

void put(Bytes& to, std::uint32_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
        to.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
}

void align(Bytes& to) {
    to.resize((to.size() + 3) / 4 * 4);
}

void put_noise(Bytes& to, std::size_t size, Random& random) {
    for (std::size_t i = 0; i < size; ++i) {
        put(to, static_cast<std::uint32_t>(random()), 1);
    }
}

std::string full_name(const symbols::Symbol& symbol) {
    return symbol.type + symbol.name;
}

/// As in the kernel's build: each character that occurs is its own token; the others are free for
/// pieces of two to six characters, here taken from names at random.
using Tokens = std::array<std::string, 256>;
Tokens choose_tokens(const symbols::SymbolList& all, Random& random) {
    std::set<char> used;
    for (const symbols::Symbol& symbol : all) {
        const std::string name = full_name(symbol);
        used.insert(name.begin(), name.end());
    }
    for (char digit = '0'; digit <= '9'; ++digit) {
        used.insert(digit);
    }
    Tokens tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string name = full_name(all[random() % all.size()]);
        tokens[i] = used.contains(static_cast<char>(i))
                        ? std::string(1, static_cast<char>(i))
                        : name.substr(random() % name.size(), 2 + random() % 5);
    }
    return tokens;
}

Bytes encode(const std::string& name, const Tokens& tokens) {
    Bytes codes;
    for (std::string_view rest = name; !rest.empty();) {
        std::size_t best = static_cast<unsigned char>(rest[0]);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            best = rest.starts_with(tokens[i]) && tokens[i].size() > tokens[best].size() ? i : best;
        }
        rest.remove_prefix(tokens[best].size());
        codes.push_back(static_cast<std::byte>(best));
    }
    Bytes bytes;
    const auto size = static_cast<std::uint32_t>(codes.size());
    if (size < 128) {
        put(bytes, size, 1);
    } else {
        put(bytes, size % 128 + 128, 1);
        put(bytes, size / 128, 1);
    }
    bytes.insert(bytes.end(), codes.begin(), codes.end());
    return bytes;
}

void put_names(Bytes& to, const symbols::SymbolList& all, const Tokens& tokens) {
    align(to);
    put(to, static_cast<std::uint32_t>(all.size()), 4);
    const std::size_t start = to.size();
    std::vector<std::uint32_t> markers;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % 256 == 0) {
            markers.push_back(static_cast<std::uint32_t>(to.size() - start));
        }
        const Bytes name = encode(full_name(all[i]), tokens);
        to.insert(to.end(), name.begin(), name.end());
    }
    align(to);
    for (const std::uint32_t marker : markers) {
        put(to, marker, 4);
    }
}

void put_tokens(Bytes& to, const Tokens& tokens) {
    align(to);
    std::vector<std::uint32_t> index;
    const std::size_t start = to.size();
    for (const std::string& token : tokens) {
        index.push_back(static_cast<std::uint32_t>(to.size() - start));
        const auto bytes = std::as_bytes(std::span(token.c_str(), token.size() + 1));
        to.insert(to.end(), bytes.begin(), bytes.end());
    }
    align(to);
    for (const std::uint32_t at : index) {
        put(to, at, 2);
    }
}

void put_addresses(Bytes& to, const symbols::SymbolList& all, bool absolute) {
    align(to);
    for (const symbols::Symbol& symbol : all) {
        put(to, symbol.address - (absolute ? 0 : all.front().address), 4);
    }
    if (!absolute) {
        put(to, all.front().address, 4);
    }
}

void put_order(Bytes& to, const symbols::SymbolList& all, Random& random) {
    align(to);
    put_noise(to, 3 * all.size(), random);
    align(to);
}

} // namespace

std::vector<std::byte> kallsyms_image(const symbols::SymbolList& all, const Layout& layout,
                                      unsigned seed) {
    Random random(seed);
    const Tokens tokens = choose_tokens(all, random);
    Bytes image;
    put_noise(image, 1000 + random() % 1000, random);
    put_tokens(image, Tokens{}); // a decoy
    if (!layout.addresses_last) {
        put_addresses(image, all, layout.absolute);
    }
    put_names(image, all, tokens);
    if (layout.order && !layout.addresses_last) {
        put_order(image, all, random);
    }
    put_tokens(image, tokens);
    if (layout.addresses_last) {
        put_addresses(image, all, layout.absolute);
        put_order(image, all, random);
    }
    put_noise(image, 1000 + random() % 1000, random);
    return image;
}

namespace {

std::uint8_t* bytes_of(Bytes& bytes) {
    return reinterpret_cast<std::uint8_t*>(bytes.data());
}

const std::uint8_t* bytes_of(const Bytes& bytes) {
    return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

// As in the kernel's build: with the filter for ARM code.
std::size_t pack_xz(const Bytes& in, Bytes& out) {
    lzma_options_lzma options;
    lzma_lzma_preset(&options, 6);
    const lzma_filter filters[]{
        {LZMA_FILTER_ARM, nullptr}, {LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
    std::size_t size = 0;
    REQUIRE(lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters), LZMA_CHECK_CRC32, nullptr,
                                      bytes_of(in), in.size(), bytes_of(out), &size,
                                      out.size()) == LZMA_OK);
    return size;
}

std::size_t pack_with(lzma_stream stream, const Bytes& in, Bytes& out) {
    stream.next_in = bytes_of(in);
    stream.avail_in = in.size();
    stream.next_out = bytes_of(out);
    stream.avail_out = out.size();
    REQUIRE(lzma_code(&stream, LZMA_FINISH) == LZMA_STREAM_END);
    const std::size_t size = stream.total_out;
    lzma_end(&stream);
    return size;
}

std::size_t pack_lzma(const Bytes& in, Bytes& out) {
    lzma_options_lzma options;
    lzma_lzma_preset(&options, 6);
    lzma_stream stream = LZMA_STREAM_INIT;
    REQUIRE(lzma_alone_encoder(&stream, &options) == LZMA_OK);
    return pack_with(stream, in, out);
}

std::size_t pack_gzip(const Bytes& in, Bytes& out) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = const_cast<std::uint8_t*>(bytes_of(in));
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = bytes_of(out);
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    const std::size_t size = stream.total_out;
    deflateEnd(&stream);
    return size;
}

std::size_t pack_lz4(const Bytes& in, Bytes& out) {
    constexpr std::size_t block = 8u << 20;
    Bytes packed;
    put(packed, 0x184c'2102, 4);
    for (std::size_t at = 0; at < in.size(); at += block) {
        const std::size_t part = std::min(block, in.size() - at);
        const int size = LZ4_compress_HC(reinterpret_cast<const char*>(in.data() + at),
                                         reinterpret_cast<char*>(out.data()),
                                         static_cast<int>(part), static_cast<int>(out.size()), 9);
        REQUIRE(size > 0);
        put(packed, static_cast<std::uint32_t>(size), 4);
        packed.insert(packed.end(), out.begin(), out.begin() + size);
    }
    std::copy(packed.begin(), packed.end(), out.begin());
    return packed.size();
}

std::size_t pack(Payload payload, const Bytes& in, Bytes& out) {
    switch (payload) {
    case Payload::xz: return pack_xz(in, out);
    case Payload::lzma: return pack_lzma(in, out);
    case Payload::gzip: return pack_gzip(in, out);
    case Payload::lz4: return pack_lz4(in, out);
    case Payload::zstd: return ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 19);
    }
    return 0;
}

} // namespace

std::vector<std::byte> zimage(const std::vector<std::byte>& kernel, Payload payload) {
    Bytes image(0x24);
    put(image, 0x016f'2818, 4);
    put(image, 0, 4);
    const std::size_t end_at = image.size();
    put(image, 0, 4);
    for (const std::string_view magic :
         {std::string_view("\xfd"
                           "7zXZ\0",
                           6),
          std::string_view("\x1f\x8b\x08", 3), std::string_view("\x5d\0\0", 3),
          std::string_view("\x02\x21\x4c\x18", 4), std::string_view("\x28\xb5\x2f\xfd", 4)}) {
        const auto bytes = std::as_bytes(std::span(magic));
        image.insert(image.end(), bytes.begin(), bytes.end());
        image.resize(image.size() + 40, std::byte{0xe1});
    }
    Bytes packed(kernel.size() * 2 + 10000);
    packed.resize(pack(payload, kernel, packed));
    image.insert(image.end(), packed.begin(), packed.end());
    put(image, static_cast<std::uint32_t>(kernel.size()), 4); // appended by the build
    const auto size = static_cast<std::uint32_t>(image.size());
    std::memcpy(image.data() + end_at, &size, sizeof size);
    return image;
}

} // namespace mmioscope::test
