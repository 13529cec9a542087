#include "diff/profile.hpp"

#include "system/error.hpp"
#include "system/escape.hpp"
#include "system/file_descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>

namespace mmioscope::diff {

namespace {

constexpr std::string_view first_line = "mmioscope-diff-profile 4";
constexpr char escape = '%';

/// The text as a word of printable ASCII, because names come from guests. The empty text is "%".
std::string word_of(std::string_view name) {
    std::string word;
    for (const char c : name) {
        if (is_plain(c) && c != ' ' && c != escape) {
            word += c;
        } else {
            word += fmt::format("{}{:02x}", escape, static_cast<unsigned char>(c));
        }
    }
    return word.empty() ? std::string(1, escape) : word;
}

std::optional<std::string> name_of(std::string_view word) {
    std::string name;
    if (word.size() == 1 && word.front() == escape) {
        return name;
    }
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] != escape) {
            name += word[i];
            continue;
        }
        const std::string_view digits = word.substr(i + 1, 2);
        unsigned char byte = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
            return std::nullopt;
        }
        name += static_cast<char>(byte);
        i += 2;
    }
    return name;
}

class Writer {
public:
    Writer() { line("{}", first_line); }

    void add(const Sites& sites) {
        for (std::uint32_t i = 0; i < sites.size(); ++i) {
            const Site& site = sites[i];
            line("site {} {} {} {} {} {} {} {}", site.write ? 1 : 0, site.interrupt ? 1 : 0,
                 site.size, site.offset, site.place, word_of(site.device), word_of(site.reg),
                 word_of(site.function));
        }
    }

    void add(const Pairing& devices) {
        for (const Pairing::Device& device : devices.known()) {
            line("device {} {} {} {}", device.address, device.index, word_of(device.name),
                 word_of(device.card));
            for (const std::string& name : device.compatible) {
                line("compatible {}", word_of(name));
            }
        }
    }

    void add(const Boot& boot) {
        line("boot {} {} {} {}", boot.accesses, boot.left_out, word_of(boot.name),
             word_of(boot.build));
        if (boot.incomplete) {
            line("incomplete");
        }
        for (std::uint32_t i = 0; i < boot.uses.size(); ++i) {
            if (boot.uses[i].count > 0) {
                add(i, boot.uses[i]);
            }
        }
        for (const auto& [pair, count] : boot.pairs) {
            const auto& [first, second] = pair;
            line("pair {} {} {} {} {}", first.site, first.value, second.site, second.value, count);
        }
        for (const auto& [kind, burst] : boot.bursts) {
            line("burst {} {} {} {}", kind.first, kind.second, burst.count, burst.first);
            for (const Burst::Word& word : burst.words) {
                line("word {} {} {}", word.site, word.ones, word.zeros);
            }
        }
    }

    std::string take() {
        line("end");
        return fmt::to_string(text_);
    }

private:
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        text_.push_back('\n');
    }

    void add(std::uint32_t site, const Use& use) {
        line("use {} {} {} {} {} {} {} {} {}", site, use.count, use.first, use.behind,
             use.many ? 1 : 0, use.one_bit ? 1 : 0, use.ones, use.zeros, use.unkept);
        for (const Use::Value& value : use.values) {
            line("value {} {} {} {} {}", value.value, value.count, value.first, value.behind,
                 value.read ? fmt::to_string(*value.read) : "-");
        }
    }

    fmt::memory_buffer text_;
};

/// Takes the words of a line one by one. A missing or invalid word is an error.
class Line {
public:
    Line(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    std::string_view word() {
        const std::size_t end = std::min(text_.find(' '), text_.size());
        const std::string_view word = text_.substr(0, end);
        text_.remove_prefix(std::min(end + 1, text_.size()));
        if (word.empty()) {
            wrong();
        }
        return word;
    }
    std::uint64_t number(std::uint64_t most = UINT64_MAX) {
        const std::string_view digits = word();
        std::uint64_t number = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc() || end != digits.data() + digits.size() || number > most) {
            wrong();
        }
        return number;
    }
    std::optional<std::uint64_t> number_or_none() {
        if (text_.starts_with('-')) {
            word();
            return std::nullopt;
        }
        return number();
    }
    std::uint32_t small(std::uint32_t most = UINT32_MAX) {
        return static_cast<std::uint32_t>(number(most));
    }
    std::string name() {
        const std::optional<std::string> name = name_of(word());
        if (!name) {
            wrong();
        }
        return *name;
    }
    void end() const {
        if (!text_.empty()) {
            wrong();
        }
    }
    [[noreturn]] void wrong() const {
        throw bad_input("{}: this is no line of a profile of mmioscope diff --good", where_);
    }

private:
    std::string_view text_;
    const std::string& where_;
};

class Parser {
public:
    explicit Parser(Sites& sites) : sites_(sites) {}

    /// True after the last line.
    bool take(Line line) {
        const std::string_view kind = line.word();
        if (kind == "site") {
            take_site(line);
        } else if (kind == "device" && devices_.size() < most_devices) {
            take_device(line);
        } else if (kind == "compatible" && !devices_.empty() &&
                   devices_.back().compatible.size() < most_compatible) {
            devices_.back().compatible.push_back(line.name());
        } else if (kind == "incomplete" && !boots_.empty()) {
            boots_.back().incomplete = true;
        } else if (kind == "boot") {
            take_boot(line);
        } else if (kind == "use" && !boots_.empty()) {
            take_use(line);
        } else if (kind == "value" && use_ != nullptr) {
            take_value(line);
        } else if (kind == "pair" && !boots_.empty()) {
            take_pair(line);
        } else if (kind == "burst" && !boots_.empty()) {
            take_burst(line);
        } else if (kind == "word" && burst_ != nullptr) {
            take_word(line);
        } else if (kind != "end" || boots_.empty()) {
            line.wrong();
        }
        line.end();
        return kind == "end";
    }
    std::vector<Boot> boots() { return std::move(boots_); }
    std::vector<Pairing::Device> devices() { return std::move(devices_); }

private:
    // More than any boots have, and few enough to look at all for each device of another boot.
    static constexpr std::size_t most_devices = 4096;
    static constexpr std::size_t most_compatible = 64;

    void take_device(Line& line) {
        Pairing::Device device;
        device.address = line.number();
        device.index = line.small();
        device.name = line.name();
        device.card = line.name();
        devices_.push_back(std::move(device));
    }

    void take_site(Line& line) {
        Site site;
        site.write = line.number(1) == 1;
        site.interrupt = line.number(1) == 1;
        site.size = line.small(64);
        site.offset = line.number();
        site.place = line.small();
        site.device = line.name();
        site.reg = line.name();
        site.function = line.name();
        const std::uint32_t next = sites_.size();
        if (sites_.number_of(site) != next || sites_.size() == next) { // known, or too many
            line.wrong();
        }
    }

    void take_boot(Line& line) {
        if (boots_.size() == most_boots) {
            line.wrong();
        }
        Boot boot;
        boot.accesses = line.number();
        boot.left_out = line.number();
        boot.name = line.name();
        boot.build = line.name();
        boots_.push_back(std::move(boot));
        use_ = nullptr;
        burst_ = nullptr;
    }

    std::uint32_t site_of(Line& line) const {
        const std::uint32_t site = line.small();
        if (site >= sites_.size()) {
            line.wrong();
        }
        return site;
    }

    std::uint32_t site_or_none(Line& line) const {
        const std::uint32_t site = line.small();
        if (site >= sites_.size() && site != Sites::none) {
            line.wrong();
        }
        return site;
    }

    void take_use(Line& line) {
        const std::uint32_t site = site_of(line);
        std::vector<Use>& uses = boots_.back().uses;
        uses.resize(std::max<std::size_t>(uses.size(), site + 1));
        Use& use = uses[site];
        if (use.count != 0) {
            line.wrong();
        }
        use.count = std::max<std::uint64_t>(line.number(), 1);
        use.first = line.number();
        use.behind = site_or_none(line);
        use.many = line.number(1) == 1;
        use.one_bit = line.number(1) == 1;
        use.ones = line.number();
        use.zeros = line.number();
        use.unkept = line.number();
        use_ = &use;
    }

    void take_value(Line& line) {
        Use::Value value;
        value.value = line.number();
        value.count = line.number();
        value.first = line.number();
        value.behind = site_or_none(line);
        value.read = line.number_or_none();
        if (use_->values.size() == Use::most_values) {
            line.wrong();
        }
        use_->values.push_back(value);
    }

    Token token_of(Line& line) {
        const std::uint32_t site = site_of(line);
        const Token token{site, line.small(Token::any)};
        const Boot& boot = boots_.back();
        if (!boot.has(site) ||
            (token.value != Token::any && token.value >= boot.uses[site].values.size())) {
            line.wrong();
        }
        return token;
    }

    void take_pair(Line& line) {
        const Token first = token_of(line);
        const Token second = token_of(line);
        boots_.back().pairs[{first, second}] = line.number();
    }

    // A word that no line is about was not the same in all bursts.
    void take_burst(Line& line) {
        const std::uint32_t site = site_of(line);
        const std::uint32_t length = line.small();
        std::map<BurstKind, Burst>& bursts = boots_.back().bursts;
        if (length < 2 || bursts.size() == Boot::most_bursts || bursts.contains({site, length})) {
            line.wrong();
        }
        burst_ = &bursts[{site, length}];
        burst_->words.resize(std::min<std::size_t>(length, Burst::most_words));
        next_word_ = 0;
        burst_->count = line.number();
        burst_->first = line.number();
    }

    void take_word(Line& line) {
        if (next_word_ == burst_->words.size()) {
            line.wrong();
        }
        Burst::Word& word = burst_->words[next_word_++];
        word.site = site_of(line);
        word.ones = line.number();
        word.zeros = line.number();
    }

    Sites& sites_;
    std::vector<Pairing::Device> devices_;
    std::vector<Boot> boots_;
    Use* use_ = nullptr;     ///< the site that value lines belong to
    Burst* burst_ = nullptr; ///< that word lines belong to
    std::size_t next_word_ = 0;
};

} // namespace

std::string profile_text(std::span<const Boot> boots, const Sites& sites, const Pairing& devices) {
    Writer writer;
    writer.add(sites);
    writer.add(devices);
    for (const Boot& boot : boots) {
        writer.add(boot);
    }
    return writer.take();
}

std::vector<Boot> read_profile(const std::string& path, Sites& sites, Pairing& devices) {
    const std::string bytes = whole_text(path, "profile");
    std::string_view text = bytes;
    Parser parser(sites);
    bool ended = false;
    for (std::size_t number = 1; !text.empty() && !ended; ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string where = fmt::format("{}:{}", path, number);
        const Line line(text.substr(0, end), where);
        if (number > 1) {
            ended = parser.take(line);
        } else if (text.substr(0, end) != first_line) {
            line.wrong();
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!ended) {
        throw bad_input("{}: the profile is cut off", path);
    }
    devices.know(parser.devices());
    return parser.boots();
}

} // namespace mmioscope::diff
