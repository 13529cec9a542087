// docs/man/mmioscope-filter.7: it lists all fields, and its examples are valid filters.
#include "filter/filter.hpp"
#include "sample_event.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace mmioscope;

namespace {

std::vector<std::string> page_lines() {
    const auto top = std::filesystem::read_symlink("/proc/self/exe")
                         .parent_path() // build/tests
                         .parent_path() // build
                         .parent_path();
    std::ifstream page(top / "docs/man/mmioscope-filter.7");
    std::vector<std::string> lines;
    for (std::string line; std::getline(page, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string without_escapes(std::string text) {
    for (std::size_t at = text.find("\\(dq"); at != std::string::npos; at = text.find("\\(dq")) {
        text.replace(at, 4, "\"");
    }
    return text;
}

/// The words after `macro` on lines that begin with it or with a list item.
std::set<std::string> words_of(const std::string& macro) {
    std::set<std::string> words;
    for (const std::string& line : page_lines()) {
        std::istringstream stream(line);
        std::string word;
        bool on = false;
        while (stream >> word) {
            const bool sign = word == "," || word == ")" || word == "(";
            if (word == macro || word == "." + macro) {
                on = true;
            } else if (word == "Ns" || word == "Ar" || word == "Fl") {
                on = false;
            } else if (on && !sign) {
                words.insert(word);
            }
        }
    }
    return words;
}

std::set<std::string> all_fields() {
    std::set<std::string> names{"field"};
    for (const filter::NumberField& field : filter::number_fields()) {
        names.emplace(field.name);
    }
    for (const filter::TextField& field : filter::text_fields()) {
        names.emplace(field.name);
    }
    for (const filter::Synonym& synonym : filter::synonyms()) {
        names.emplace(synonym.name);
    }
    return names;
}

} // namespace

TEST_CASE("the manual page of filters lists each field, and no other") {
    CHECK(words_of("Cm") == all_fields());
}

TEST_CASE("the manual page of filters lists each word for a value") {
    const std::set<std::string> words = words_of("Ql");
    for (const filter::NumberField& field : filter::number_fields()) {
        for (const filter::NumberField::Word& word : field.words) {
            const bool direction = word.word == "read" || word.word == "write"; // are also fields
            INFO(field.name << " " << word.word);
            CHECK((direction || words.contains(std::string(word.word))));
        }
    }
}

TEST_CASE("the examples of the manual page are valid filters") {
    unsigned count = 0;
    const test::SampleEvent sample;
    for (const std::string& line : page_lines()) {
        if (line.starts_with(".Dl ")) {
            const std::string text = without_escapes(line.substr(4));
            INFO(text);
            CHECK_NOTHROW(filter::Filter(text)(sample.event()));
            ++count;
        }
    }
    CHECK(count >= 7);
}
