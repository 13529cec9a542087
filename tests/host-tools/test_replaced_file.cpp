// A file that is written beside the one that it replaces, and outputs that are written in place.
#include "system/error.hpp"
#include "system/replaced_file.hpp"
#include "view/print_output.hpp"
#include "wires.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

using namespace mmioscope;
using namespace mmioscope::test;
using Catch::Equals;

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void put(int fd, std::string_view text) {
    append(fd, std::as_bytes(std::span(text)), "a test's file");
}

struct stat status_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status;
}

std::ptrdiff_t count(const Folder& folder) {
    return std::distance(std::filesystem::directory_iterator(folder / ""), {});
}

void replace(const std::string& path) {
    ReplacedFile file(path);
    put(file.fd(), "new");
    file.commit();
}

} // namespace

TEST_CASE("a replaced file is there as a whole or not at all, with its mode and owner") {
    const Folder folder;
    const std::string path = folder / "t";
    const mode_t mask = ::umask(0027);
    replace(path);
    ::umask(mask);
    CHECK((status_of(path).st_mode & 07777) == 0640);
    REQUIRE(::chmod(path.c_str(), 0604) == 0);
    std::filesystem::create_symlink("t", folder / "link");
    {
        ReplacedFile file(folder / "link");
        put(file.fd(), "half");
        CHECK(text_of(path) == "new");
        CHECK((status_of(file.beside()).st_mode & 07777) == 0604);
    }
    CHECK(text_of(path) == "new");
    std::ofstream(path) << "old";
    replace(folder / "link");
    CHECK(std::filesystem::is_symlink(folder / "link"));
    CHECK(text_of(path) == "new");
    CHECK((status_of(path).st_mode & 07777) == 0604);
    CHECK(count(folder) == 2);
    if (::geteuid() == 0) {
        REQUIRE(::chown(path.c_str(), 12345, 23456) == 0);
        REQUIRE(::chmod(path.c_str(), 06755) == 0);
        replace(path);
        CHECK(status_of(path).st_uid == 12345);
        CHECK(status_of(path).st_gid == 23456);
        CHECK((status_of(path).st_mode & 07777) == 06755);
    }
}

TEST_CASE("a file that came meanwhile is not replaced") {
    const Folder folder;
    const std::string path = folder / "t";
    for (const bool old : {false, true}) {
        std::filesystem::remove(path);
        if (old) {
            std::ofstream(path) << "old";
        }
        ReplacedFile file(path);
        std::ofstream(folder / "other") << "other";
        std::filesystem::rename(folder / "other", path);
        CHECK_THROWS_WITH(file.commit(),
                          Equals("cannot write " + path + ": it was replaced meanwhile"));
        CHECK(text_of(path) == "other");
    }
    ReplacedFile file(path);
    std::filesystem::remove(path);
    CHECK_THROWS_AS(file.commit(), Error); // somebody does not want it any more
    CHECK(!std::filesystem::exists(path));
}

TEST_CASE("the file beside has no name that somebody else uses, and a short one") {
    const Folder folder;
    const std::string path = folder / std::string(255, 'n').c_str();
    const std::string first = name_beside(path);
    std::filesystem::create_symlink(folder / "precious", first);
    std::ofstream(folder / "t.packing") << "somebody's own";
    {
        ReplacedFile file(path);
        CHECK(file.beside() != first);
        file.commit();
    }
    CHECK(std::filesystem::exists(path));
    CHECK(!std::filesystem::exists(folder / "precious"));
    CHECK(text_of(folder / "t.packing") == "somebody's own");
}

TEST_CASE("an output that somebody writes is refused, and stays as it is") {
    const Folder folder;
    const std::string path = folder / "t";
    const std::string why =
        "cannot write " + path + ": another output, or another program, writes it";
    {
        const FileDescriptor recording = create_output(path);
        put(recording.get(), "half");
        CHECK_THROWS_WITH(create_output(path), Equals(why));
        CHECK_THROWS_WITH(ReplacedFile(path), Equals(why));
        CHECK_NOTHROW(ReplacedFile(path, recording.get()));
        CHECK(text_of(path) == "half");
    }
    {
        const ReplacedFile replaced(path);
        CHECK_THROWS_WITH(create_output(path), Equals(why));
        CHECK(text_of(path) == "half");
    }
    create_output(path);
    CHECK(text_of(path).empty());
    CHECK_NOTHROW((create_output("/dev/null"), create_output("/dev/null")));
}

TEST_CASE("a device, a pipe, or another name of an open file is not replaced") {
    const Folder folder;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    const FileDescriptor open = create_output(folder / "t");
    CHECK(!is_replaceable("/dev/null"));
    CHECK(!is_replaceable(folder / "pipe"));
    CHECK(!is_replaceable(fmt::format("/proc/self/fd/{}", open.get())));
    CHECK(!is_replaceable(fmt::format("/dev/fd/{}", open.get())));
    CHECK(is_replaceable(folder / "t"));
    CHECK(is_replaceable(folder / "new"));
    CHECK(is_replaceable("/dev/shm/new"));
}

TEST_CASE("a command's output in a file appears when it is whole, unless people watch it grow") {
    const Folder folder;
    std::ofstream(folder / "t") << "old";
    {
        view::Output failed(folder / "t");
        std::fputs("half", failed.file());
    }
    CHECK(text_of(folder / "t") == "old");
    view::Output whole(folder / "t");
    std::fputs("new", whole.file());
    whole.close();
    CHECK(text_of(folder / "t") == "new");
    view::Output growing(folder / "t", view::Output::Appears::growing);
    std::fputs("half", growing.file());
    std::fflush(growing.file());
    CHECK(text_of(folder / "t") == "half");
}
