// What kernel images say, kept between runs.
#include "kernel_maker.hpp"
#include "run/kernel_cache.hpp"
#include "run/kernel_names.hpp"
#include "symbols/section.hpp"
#include "wires.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace mmioscope;
using namespace mmioscope::test;
using run::KernelCache;
using run::KernelFacts;

namespace {

using Image = std::vector<std::byte>;

Image image_of(unsigned number) {
    return Image(1000, static_cast<std::byte>(number));
}

KernelFacts some_facts() {
    return {"Linux version 6.1",
            symbols::pack(std::vector<symbols::Symbol>{{0xc0001000, 'T', "f", ""}}),
            symbols::TaskOffsets{0x3e0, 0x290},
            std::vector<std::byte>(7, std::byte{3})};
}

std::vector<std::filesystem::path> files_in(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        files.push_back(file.path());
    }
    return files;
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// A run's use of the cache in `folder`.
struct Cache {
    std::string folder;

    std::optional<KernelFacts> find(const Image& image) const {
        return KernelCache(folder, image).find();
    }
    void keep(const Image& image, const KernelFacts& facts) const {
        KernelCache(folder, image).keep(facts);
    }
};

} // namespace

TEST_CASE("what a kernel's image says is kept, for that image only") {
    const Folder folder;
    const Cache cache{folder / "a/b"};
    CHECK_FALSE(cache.find(image_of(1)));
    cache.keep(image_of(1), some_facts());
    cache.keep(image_of(2), {});
    const auto found = Cache{folder / "a/b"}.find(image_of(1));
    REQUIRE(found);
    CHECK(found->banner == some_facts().banner);
    CHECK(found->symbols == some_facts().symbols);
    CHECK(found->task_offsets == some_facts().task_offsets);
    CHECK(found->frames == some_facts().frames);
    REQUIRE(cache.find(image_of(2)));
    CHECK_FALSE(cache.find(image_of(2))->task_offsets);
    CHECK_FALSE(cache.find(image_of(3)));
    Image other = image_of(1);
    other.back() = std::byte{};
    CHECK_FALSE(cache.find(other));
    struct stat is {};
    REQUIRE(::stat((folder / "a/b").c_str(), &is) == 0);
    CHECK((is.st_mode & 0777) == 0700);
}

TEST_CASE("a damaged file of the cache is none, and is replaced") {
    const Folder folder;
    const Cache cache{folder / "b"};
    cache.keep(image_of(1), some_facts());
    const std::filesystem::path path = files_in(folder / "b").front();
    const std::string good = text_of(path);
    for (std::size_t i = 0; i < good.size(); ++i) {
        CAPTURE(i);
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 0x10);
        write(path, bad);
        CHECK_FALSE(cache.find(image_of(1)));
        write(path, good.substr(0, i));
        CHECK_FALSE(cache.find(image_of(1)));
    }
    cache.keep(image_of(1), some_facts());
    CHECK(cache.find(image_of(1)));
}

TEST_CASE("the cache keeps the kernels used last") {
    const Folder folder;
    const Cache cache{folder / "b"};
    const auto date = [](const std::filesystem::path& path, int hour) {
        std::filesystem::last_write_time(path,
                                         std::filesystem::file_time_type(std::chrono::hours(hour)));
    };
    for (unsigned i = 0; i < UserCache::most; ++i) {
        cache.keep(image_of(i), some_facts());
        for (const auto& file : files_in(folder / "b")) {
            if (std::filesystem::last_write_time(file) >
                std::filesystem::file_time_type(std::chrono::hours(100))) {
                date(file, static_cast<int>(i));
            }
        }
    }
    REQUIRE(cache.find(image_of(0))); // so the second one is the oldest
    cache.keep(image_of(UserCache::most), some_facts());
    CHECK(files_in(folder / "b").size() == UserCache::most);
    CHECK(cache.find(image_of(0)));
    CHECK_FALSE(cache.find(image_of(1)));
    CHECK(cache.find(image_of(2)));
    CHECK(cache.find(image_of(UserCache::most)));
}

TEST_CASE("a folder that others may write is no cache, nor is a file, nor none") {
    const Folder folder;
    const auto useless = [](const std::string& path) {
        const Cache cache{path};
        cache.keep(image_of(1), some_facts());
        return !cache.find(image_of(1));
    };
    REQUIRE(std::filesystem::create_directory(folder / "open"));
    REQUIRE(::chmod((folder / "open").c_str(), 0770) == 0);
    write(folder / "file", "");
    std::filesystem::create_directory_symlink(folder / "b", folder / "link");
    CHECK(useless(folder / "open"));
    CHECK(useless(folder / "file"));
    CHECK(useless(folder / "file/b"));
    CHECK(useless(folder / "link"));
    CHECK(useless(""));
    if (::geteuid() == 0) {
        std::filesystem::create_directory(folder / "theirs");
        REQUIRE(::chown((folder / "theirs").c_str(), 1000, 1000) == 0);
        CHECK(useless(folder / "theirs/.cache/b"));
        CHECK(files_in(folder / "theirs").empty());
    }
    CHECK(files_in(folder / "open").empty());
    CHECK_FALSE(useless(folder / "b"));
}

TEST_CASE("a kernel's names are the same from its image and from the cache") {
    const Folder folder;
    ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    symbols::SymbolList symbols;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        symbols.push_back(
            {0xc0008000 + 16 * i, i % 7 == 0 ? 'D' : 'T', fmt::format("name_{}", i), ""});
    }
    const Image image = kallsyms_image(symbols, {}, 1);
    std::ofstream(folder / "kernel", std::ios::binary)
        .write(reinterpret_cast<const char*>(image.data()),
               static_cast<std::streamsize>(image.size()));
    run::Options options;
    options.kernel = folder / "kernel";
    options.no_cache = true;
    run::KernelNames fresh = run::kernel_names(options);
    CHECK_FALSE(std::filesystem::exists(folder / "cache"));
    options.no_cache = false;
    const run::KernelNames first = run::kernel_names(options);
    run::KernelNames kept = run::kernel_names(options);
    CHECK(files_in(user_cache_folder("kernels")).size() == 1);
    ::unsetenv("XDG_CACHE_HOME");
    CHECK(fresh.symbols.size() > 1000);
    CHECK(first.symbols == fresh.symbols);
    CHECK(kept.symbols == fresh.symbols);
    CHECK(kept.banner == fresh.banner);
    for (std::uint32_t address = 0xc0008000; address < 0xc0008000 + 16 * 1000; address += 4) {
        Location a;
        Location b;
        CHECK(fresh.functions.locate(address, a) == kept.functions.locate(address, b));
        CHECK((a.function == b.function && a.offset == b.offset));
    }
}
