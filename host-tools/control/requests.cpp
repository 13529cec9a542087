#include "control/requests.hpp"

#include "abi/control_check.hpp"
#include "system/error.hpp"
#include "system/units.hpp"
#include "tree/device_names.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

namespace mmioscope::control {

namespace {

using abi::control::Command;
using Words = std::span<const std::string>;

constexpr std::uint64_t four_gib = std::uint64_t{1} << 32;

std::uint32_t number(const std::string& word) {
    const std::optional<std::uint64_t> value = parse_number(word);
    if (!value || *value >= four_gib) {
        throw bad_input("'{}' is not a number of 32 bits", word);
    }
    return static_cast<std::uint32_t>(*value);
}

std::uint32_t count(const std::string& word, std::uint32_t most = UINT32_MAX) {
    const std::uint32_t value = number(word);
    if (value == 0) {
        throw bad_input("{}: must be at least 1", word);
    }
    if (value > most) {
        throw bad_input("{}: must be at most {}", word, most);
    }
    return value;
}

std::optional<Place> range(std::string_view word) {
    const std::size_t plus = word.find('+');
    if (plus == std::string_view::npos) {
        return std::nullopt;
    }
    const auto base = parse_number(word.substr(0, plus));
    const auto size = parse_size(word.substr(plus + 1));
    return base && size ? std::optional(Place{*base, *size}) : std::nullopt;
}

Ask in_reach(Command command, Place place) {
    if (place.size == 0 || place.base >= four_gib || place.size > four_gib - place.base ||
        place.size >= four_gib) {
        throw bad_input("{:#x}+{:#x}: the range is empty, or ends above 4 GiB", place.base,
                        place.size);
    }
    return {command, static_cast<std::uint32_t>(place.base),
            static_cast<std::uint32_t>(place.size)};
}

/// Parses BASE+SIZE, a device, or DEVICE+OFFSET in one word.
std::vector<Place> places(const std::string& word, const FindDevice& find) {
    if (const std::optional<Place> place = range(word)) {
        return {*place};
    }
    const std::size_t plus = word.find('+');
    if (plus == std::string::npos) {
        return find(word);
    }
    const Place device = find(word.substr(0, plus)).front();
    const std::uint32_t offset = number(word.substr(plus + 1));
    if (offset >= device.size) {
        throw bad_input("{}: the offset is beyond the device, which has {:#x} bytes", word,
                        device.size);
    }
    return {{device.base + offset, std::min<std::uint64_t>(4, device.size - offset)}};
}

/// Takes words from the front.
class WordReader {
public:
    WordReader(Words words, const FindDevice& find, const FindCode& code)
        : words_(words), find_(find), code_(code) {}

    bool done() const { return words_.empty(); }

    const std::string& next(const char* wanted) {
        if (words_.empty()) {
            throw bad_input("{} expected after '{}'", wanted, before_);
        }
        before_ = words_.front();
        words_ = words_.subspan(1);
        return before_;
    }

    bool accept(const char* word) {
        const bool here = !words_.empty() && words_.front() == word;
        if (here) {
            next(word);
        }
        return here;
    }

    void end() const {
        if (!words_.empty()) {
            throw bad_input("'{}' is not expected after '{}'", words_.front(), before_);
        }
    }

    std::string rest() {
        std::string text;
        while (!done()) {
            text += (text.empty() ? "" : " ") + next("text");
        }
        return text;
    }

    const FindDevice& find() const { return find_; }
    std::vector<Instruction> code(const std::string& name) const {
        if (!code_) {
            throw bad_input("{}: which instruction is there is not known here: mmioscope ctl has "
                            "--kernel for that",
                            name);
        }
        return code_(name);
    }

private:
    Words words_;
    const FindDevice& find_;
    const FindCode& code_;
    std::string before_;
};

using Asks = std::vector<Ask>;

/// A request for each range. `all`: for the word "all".
void add_places(Asks& to, WordReader& words, Command command, std::optional<Ask> all) {
    const bool watches = command == Command::watch || command == Command::unwatch;
    do {
        const std::string& word = words.next(watches ? "BASE+SIZE, a variable, or 'all'"
                                                     : "a device, BASE+SIZE or 'all'");
        if (all && word == "all") {
            to.push_back(*all);
            continue;
        }
        for (const Place& place : places(word, words.find())) {
            to.push_back(in_reach(command, place));
            if (watches && place.size > abi::control::most_watched) {
                throw bad_input("{}: at most {} MiB can be watched", word,
                                abi::control::most_watched >> 20);
            }
        }
    } while (!words.done());
}

/// The index of the next word among `all`, which `names` lists for a message.
std::uint32_t choice(WordReader& words, const char* names,
                     std::initializer_list<std::string_view> all) {
    const std::string& word = words.next(names);
    const auto* const found = std::ranges::find(all, word);
    if (found == all.end()) {
        throw bad_input("'{}': expected {}", word, names);
    }
    return static_cast<std::uint32_t>(found - all.begin());
}

Ask address(WordReader& words, Command command) {
    const std::string& word = words.next("a device, DEVICE+OFFSET or BASE+SIZE");
    const std::vector<Place> all = places(word, words.find());
    if (all.size() != 1) {
        throw bad_input("{} has {} ranges of addresses: give one as BASE+SIZE", word, all.size());
    }
    return in_reach(command, all.front());
}

Ask value(WordReader& words, Command command) {
    const std::string& word = words.next("VALUE or VALUE/MASK");
    const std::size_t slash = word.find('/');
    const std::uint32_t mask = number(slash == word.npos ? "0xffffffff" : word.substr(slash + 1));
    const std::uint32_t wanted = number(word.substr(0, slash));
    if ((wanted & ~mask) != 0) {
        throw bad_input("{}: the value has bits outside the mask", word);
    }
    return {command, mask, wanted};
}

/// Takes what is before the first `,`.
std::string_view next_part(std::string_view& rest) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
}

Ask cpus(WordReader& words) {
    const std::string& word = words.next("CPUs, as 0,2");
    std::uint32_t mask = 0;
    std::string_view rest = word;
    do {
        const std::optional<std::uint64_t> cpu = parse_number(next_part(rest));
        if (!cpu || *cpu >= abi::max_cpus) {
            throw bad_input("'{}' is not a list of CPUs below {}", word, abi::max_cpus);
        }
        mask |= 1u << *cpu;
    } while (!rest.empty());
    return {Command::filter_cpus, mask};
}

Ask pcs(WordReader& words) {
    const std::string& word = words.next("BASE+SIZE of code");
    const std::optional<Place> place = range(word);
    if (!place) {
        throw bad_input("'{}' is not BASE+SIZE", word);
    }
    return in_reach(Command::filter_pcs, *place);
}

/// What filters and the trigger have. False: another word is next.
bool add_condition(Asks& to, WordReader& words, Command directions, Command addresses,
                   Command values) {
    if (words.accept("direction")) {
        to.push_back({directions, 1 + choice(words, "r, w or rw", {"r", "w", "rw"})});
    } else if (words.accept("address")) {
        to.push_back(address(words, addresses));
    } else if (words.accept("value")) {
        to.push_back(value(words, values));
    } else {
        return false;
    }
    return true;
}

void add_filter(Asks& to, WordReader& words) {
    if (words.accept("none")) {
        to.push_back({Command::no_filter});
        return;
    }
    do {
        if (add_condition(to, words, Command::filter_directions, Command::filter_addresses,
                          Command::filter_values)) {
            continue;
        }
        if (words.accept("cpus")) {
            to.push_back(cpus(words));
        } else if (words.accept("pc")) {
            to.push_back(pcs(words));
        } else {
            throw bad_input("'{}': expected none, direction, address, value, cpus or pc",
                            words.next("a condition"));
        }
    } while (!words.done());
}

// Set its conditions while it is not armed; arm it last.
void add_trigger(Asks& to, WordReader& words) {
    to.push_back({Command::no_trigger});
    if (words.accept("none")) {
        return;
    }
    const bool starts = choice(words, "none, start or stop", {"start", "stop"}) == 0;
    std::uint32_t nth = 1;
    while (!words.done()) {
        if (add_condition(to, words, Command::trigger_directions, Command::trigger_addresses,
                          Command::trigger_values)) {
            continue;
        }
        if (words.accept("count")) {
            nth = count(words.next("a number"), abi::control::most_counted);
        } else {
            throw bad_input("'{}': expected direction, address, value or count",
                            words.next("a condition"));
        }
    }
    to.push_back({starts ? Command::trigger_start : Command::trigger_stop, nth});
}

// Pieces of eight characters. A zero ends the text, so the last piece contains one.
void add_marker(Asks& to, const std::string& text) {
    if (const std::optional<std::uint64_t> mark = parse_number(text)) {
        to.push_back({Command::marker, static_cast<std::uint32_t>(*mark),
                      static_cast<std::uint32_t>(*mark >> 32)});
        return;
    }
    for (std::size_t at = 0; at <= text.size(); at += 8) {
        std::uint64_t piece = 0;
        for (std::size_t i = 0; i < 8 && at + i < text.size(); ++i) {
            piece |= std::uint64_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
        }
        to.push_back({Command::marker_text, static_cast<std::uint32_t>(piece),
                      static_cast<std::uint32_t>(piece >> 32)});
    }
}

/// SUBJECT[&MASK] RELATION VALUE
void add_condition(Asks& to, std::string text) {
    std::erase(text, ' ');
    constexpr std::string_view subjects[] = {"arg0", "arg1", "arg2", "arg3", "task"};
    constexpr std::string_view relations[] = {"==", "!=", "<", ">"};
    const std::size_t at = text.find_first_of("=!<>");
    const std::string left = text.substr(0, at), right = at < text.size() ? text.substr(at) : "";
    const std::size_t mask = left.find('&');
    const auto* subject = std::ranges::find(subjects, std::string_view(left).substr(0, mask));
    const auto* relation = std::ranges::find_if(
        relations, [&](std::string_view word) { return right.starts_with(word); });
    if (subject == std::end(subjects) || relation == std::end(relations)) {
        throw bad_input("'{}': expected arg0 to arg3 or task, [&MASK], ==, !=, < or >, a number",
                        text);
    }
    if (mask != std::string::npos) {
        to.push_back({Command::probe_mask, 0, number(left.substr(mask + 1))});
    }
    to.push_back({Command::probe_if,
                  static_cast<std::uint32_t>(subject - subjects) |
                      static_cast<std::uint32_t>(relation - relations) << 8,
                  number(right.substr(relation->size()))});
}

/// What the hits of a function do, as requests for the probes behind them.
Asks probe_rule(std::string_view options) {
    Asks rule{{Command::probe_action, 0, 1}};
    constexpr std::string_view actions[] = {"record", "count", "start", "stop"}; // as ProbeAction
    while (!options.empty()) {
        const std::string option(next_part(options));
        const auto* const action = std::ranges::find(actions + 1, std::end(actions), option);
        if (action != std::end(actions)) {
            rule.front().first = static_cast<std::uint32_t>(action - actions);
        } else if (option.starts_with("sample=")) {
            rule.front().second = count(option.substr(7));
        } else if (option.starts_with("if=")) {
            add_condition(rule, option.substr(3));
        } else {
            throw bad_input("'{}': expected count, sample=N, if=CONDITION, start or stop", option);
        }
    }
    if (std::cmp_greater(std::ranges::count(rule, Command::probe_if, &Ask::command),
                         abi::control::most_conditions)) {
        throw bad_input("at most {} conditions are possible", abi::control::most_conditions);
    }
    return rule;
}

void add_probes(Asks& to, WordReader& words, Command command) {
    Asks last;
    do {
        const std::string& word = words.next("a function");
        if (command == Command::unprobe && word == "all") {
            to.push_back({command});
            continue;
        }
        std::string_view options = word;
        const std::string name(next_part(options));
        if (command != Command::probe && !options.empty()) {
            throw bad_input("'{}': expected a function only", word);
        }
        const Asks rule = command == Command::probe ? probe_rule(options) : Asks{};
        if (rule != std::exchange(last, rule)) {
            to.insert(to.end(), rule.begin(), rule.end());
        }
        for (const Instruction& at : words.code(name)) {
            to.push_back(command == Command::probe ? probe_of(at, rule) : Ask{command, at.address});
        }
    } while (!words.done());
}

struct Plain {
    std::string_view word;
    Command command;
};
constexpr Plain plain_commands[] = {
    {"start", Command::start}, {"stop", Command::stop},         {"status", Command::describe},
    {"flush", Command::flush}, {"snapshot", Command::snapshot}, {"statistics", Command::statistic},
};

Asks asks_of_one(WordReader& words) {
    constexpr Ask all{Command::select, abi::control::all_regions};
    const std::string command = words.next("a command");
    const auto* const plain = std::ranges::find(plain_commands, command, &Plain::word);
    if (plain != std::end(plain_commands)) {
        return {{plain->command}};
    }
    Asks asks;
    if (command == "select") {
        add_places(asks, words, Command::select_range, all);
    } else if (command == "deselect") {
        add_places(asks, words, Command::deselect_range, Ask{Command::deselect, all.first});
    } else if (command == "watch") {
        add_places(asks, words, Command::watch, std::nullopt);
    } else if (command == "unwatch") {
        add_places(asks, words, Command::unwatch, Ask{Command::unwatch});
    } else if (command == "filter") {
        add_filter(asks, words);
    } else if (command == "trigger") {
        add_trigger(asks, words);
    } else if (command == "sample") {
        asks.push_back({Command::sample, count(words.next("a number"))});
    } else if (command == "policy") {
        constexpr char names[] = "drop, stall or flight";
        asks.push_back({Command::policy, choice(words, names, {"drop", "stall", "flight"})});
    } else if (command == "probe") {
        add_probes(asks, words, Command::probe);
    } else if (command == "unprobe" || command == "hits") {
        add_probes(asks, words, command == "hits" ? Command::probe_hits : Command::unprobe);
    } else if (command == "pages") {
        const bool on = choice(words, "on or off", {"on", "off"}) == 0;
        asks.push_back({on ? Command::pages_on : Command::pages_off});
    } else if (command == "mark") {
        add_marker(asks, words.rest());
    } else {
        throw bad_input("'{}' is not a command (see --help)", command);
    }
    return asks;
}

} // namespace

std::vector<Place> pages_of(const std::string& word, const FindDevice& find) {
    constexpr std::uint64_t page = 4096;
    std::vector<Place> found = places(word, find);
    for (Place& place : found) {
        const std::uint64_t end = (place.base + place.size + page - 1) / page * page;
        place.base = place.base / page * page;
        place.size = end - place.base;
        in_reach(Command::watch, place);
    }
    return found;
}

Ask probe_of(const Instruction& at, const Asks& rule) {
    constexpr auto count = static_cast<std::uint32_t>(abi::control::ProbeAction::count);
    const bool counts = !rule.empty() && rule.front().first == count;
    const std::uint32_t flags = counts ? at.flags & ~abi::control::returns : at.flags;
    return {Command::probe, at.address | flags, at.word, at.of_module};
}

const char probe_options_help[] = R"(
A function that is probed may be followed by what its calls do, without spaces:
  FUNCTION,count             they make no records, but are counted: mmioscope calls, ctl hits
  FUNCTION,sample=N          one in N makes a record, per function and CPU; the others are counted
  FUNCTION,if=arg0==0x10     those make one (or are sampled) that meet the condition; arg0 to arg3 or task, the
                             task's address; [&MASK]; ==, !=, < or >; up to four of these, all of which must be met
  FUNCTION,start | ,stop     such a call starts, or stops, the records of accesses: as ctl trigger
)";

const char commands_help[] = R"(
Commands:
  status                     print whether tracing is on, CPUs and devices
  start | stop               trace what is selected | nothing
  select | deselect DEVICE.. trace these, or no longer: devices, BASE+SIZE, all
  filter none | direction r|w|rw | address PLACE | value VALUE[/MASK] | cpus 0,1 |
         pc BASE+SIZE        record only accesses that match (conditions can be combined)
  sample N                   record one in N accesses
  trigger none | start|stop [direction ..] [address PLACE] [value ..] [count N]
                             begin to record at, or stop after, the N-th access that matches
  policy drop|stall          what happens when a ring buffer is full
  probe | unprobe FUNCTION.. record each call of these functions of --kernel, or no longer;
                             with * ? [] as in a shell; unprobe all
  hits FUNCTION..            print how often they were called without a record
  watch | unwatch MEMORY..   record each access to this memory, or no longer:
                             BASE+SIZE, physical, or a variable of --kernel; unwatch all
  pages on | off             record each move of a page of memory between CPUs (run --pages)
  mark TEXT | NUMBER         write a mark into the trace
  statistics                 print the hypervisor's counters
  flush                      send everything recorded so far to the reader
  snapshot                   keep the last accesses for mmioscope blackbox
DEVICE is a path, the end of a path, a node name without the address, or an alias.
PLACE is a device, DEVICE+OFFSET (one word of it), or BASE+SIZE.
)";

std::vector<Ask> asks_of(std::span<const std::string> words, const FindDevice& find,
                         const FindCode& code) {
    WordReader reader(words, find, code);
    Asks asks = asks_of_one(reader);
    reader.end();
    return asks;
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::set<std::string> device_names(const wire::StreamHead& head) {
    const tree::DeviceNames names(head.regions, wire::alias_tree(head));
    std::set<std::string> all;
    for (std::size_t i = 0; i < head.regions.size(); ++i) {
        const std::string_view name = names[static_cast<std::uint16_t>(i)];
        all.emplace(name.substr(0, name.find('['))); // entries of `reg` have no names of their own
    }
    return all;
}

std::vector<Place> find_device(const wire::StreamHead& head, const std::string& name) {
    std::set<std::string_view> paths;
    for (const abi::RegionEntry& region : head.regions) {
        paths.insert(tree::region_path(region));
    }
    const auto called = tree::paths_called(name, head.aliases, paths);
    if (called.size() > 1) {
        throw bad_input("'{}' is the name of several devices: {}", name, fmt::join(called, ", "));
    }
    if (called.empty()) {
        throw bad_input("there is no device '{}'; devices: {}", name,
                        fmt::join(device_names(head), ", "));
    }
    std::vector<Place> places;
    for (const abi::RegionEntry& region : head.regions) {
        if (tree::region_path(region) == called.front()) {
            places.push_back({region.base, region.size});
        }
    }
    return places;
}

} // namespace mmioscope::control
