// Notes: what a file of them may hold, and how they change.
#include "catch_2_or_3.hpp"
#include "records/notes.hpp"
#include "system/error.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

using namespace mmioscope;
using trace::Notes;

namespace {

/// A folder with a trace's name in it, and the file beside that.
class Beside {
public:
    Beside() {
        std::string name = (std::filesystem::temp_directory_path() / "notes.XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        folder_ = name;
    }
    ~Beside() { std::filesystem::remove_all(folder_); }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;

    std::string trace() const { return (folder_ / "t.mmio").string(); }
    void write(const std::string& text) const { std::ofstream(trace::notes_path(trace())) << text; }
    std::string text() const {
        std::ostringstream all;
        all << std::ifstream(trace::notes_path(trace())).rdbuf();
        return all.str();
    }
    /// What is wrong with the file, without its name; empty: nothing.
    std::string wrong() const {
        try {
            trace::notes_of(trace());
        } catch (const Error& error) {
            const std::string text = error.what();
            CHECK(text.starts_with(trace::notes_path(trace()) + ": "));
            return text.substr(trace::notes_path(trace()).size() + 2);
        }
        return "";
    }

private:
    std::filesystem::path folder_;
};

} // namespace

TEST_CASE("notes: those of a file") {
    const Beside beside;
    CHECK(trace::notes_of(beside.trace()).empty());
    CHECK_THROWS_AS(trace::read_notes(beside.trace()), Error);
    beside.write("3\tLED on\n18446744073709551615\tzu sp\xc3\xa4t, \"a\\b\"");
    CHECK(trace::notes_of(beside.trace()) ==
          Notes{{3, "LED on"}, {UINT64_MAX, "zu sp\xc3\xa4t, \"a\\b\""}});
    beside.write("");
    CHECK(trace::notes_of(beside.trace()).empty());
}

TEST_CASE("notes: a line that is none is named") {
    const Beside beside;
    const std::string number = "line 2 does not begin with an event's number";
    const std::string text = "line 2 has no tab, or no text behind it";
    const std::string control = "line 2 has control characters, or is not UTF-8";
    const std::pair<std::string, std::string> lines[] = {
        {"", number},
        {"x\ta", number},
        {"0\ta", number},
        {"-4\ta", number},
        {"18446744073709551616\ta", number},
        {"4", text},
        {"4\t", text},
        {"4 a", number},
        {"3\ta", "line 2 is not in the order of numbers"},
        {"4\ta\tb", control},
        {"4\ta\r", control},
        {"4\t\x1b[31m", control},
        {std::string("4\ta\0b", 5), control},
        {"4\t\xc2\x9b", control},
        {"4\t\xff", control},
        {"4\t" + std::string(1001, 'a'), "line 2 is longer than 1000 characters"}};
    for (const auto& [line, wrong] : lines) {
        CAPTURE(line);
        beside.write("3\ta\n" + line + "\n5\tb\n");
        CHECK(beside.wrong() == wrong);
    }
    std::string characters; // of two bytes each
    for (std::size_t i = 0; i < trace::most_of_note; ++i) {
        characters += "\xc3\xa4";
    }
    beside.write("3\t" + characters + "\n");
    CHECK(beside.wrong() == "");
}

TEST_CASE("notes: set, changed, removed, merged") {
    const Beside beside;
    trace::change_notes(beside.trace(), {{20, "late"}, {3, "early"}});
    CHECK(beside.text() == "3\tearly\n20\tlate\n");
    trace::change_notes(beside.trace(), {{3, ""}, {4, ""}, {20, "later"}, {7, "new"}});
    CHECK(beside.text() == "7\tnew\n20\tlater\n");
    // What cannot be a note changes nothing, and neither does a file that is not understood.
    CHECK_THROWS_AS(trace::change_notes(beside.trace(), {{1, "a"}, {2, "b\n3\tc"}}), Error);
    CHECK_THROWS_AS(trace::change_notes(beside.trace(), {{1, std::string(1001, 'a')}}), Error);
    CHECK(beside.text() == "7\tnew\n20\tlater\n");
    beside.write("bad\n");
    CHECK_THROWS_AS(trace::change_notes(beside.trace(), {{1, "a"}}), Error);
    CHECK(beside.text() == "bad\n");
    const auto files =
        std::filesystem::directory_iterator(std::filesystem::path(beside.trace()).parent_path());
    CHECK(std::distance(begin(files), end(files)) == 1); // nothing stays beside it
}
