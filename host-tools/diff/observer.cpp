#include "diff/observer.hpp"

#include "registers/fields_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace mmioscope::diff {

namespace {

std::string function_text(const Location& location) {
    return location.module.empty() ? location.function
                                   : fmt::format("{} [{}]", location.function, location.module);
}

Site site_of(const Event& event) {
    Site site;
    site.device = event.device();
    site.offset = event.offset();
    site.size = abi::access_size(event.record);
    site.write = abi::is_write(event.record);
    site.place = event.record.pc;
    if (const Location* code = event.code()) {
        site.function = function_text(*code);
        site.place = code->offset;
    }
    site.reg = registers::register_text(event.reg(), site.offset);
    site.interrupt = event.interrupt_id() != no_id || site.reg == sends_interrupt;
    return site;
}

} // namespace

Observer::Key Observer::key_of(const Event& event) {
    const Id code = event.code_id();
    const std::uint64_t address = code == no_id ? event.record.pc : 0;
    constexpr unsigned parts = abi::access_write | abi::access_size_mask << abi::access_size_shift;
    return {std::uint64_t{event.place_id()} << 32 | code,
            address << 8 | (event.record.access & parts)};
}

const Observer::Known& Observer::known(const Event& event) {
    const Key key = key_of(event);
    const auto found = known_.find(key);
    if (found != known_.end()) {
        return found->second;
    }
    if (known_.size() == most_known) {
        known_.clear();
    }
    return known_.emplace(key, make(event)).first->second;
}

Observer::Known Observer::make(const Event& event) {
    Site site = site_of(event);
    if (const auto renamed = renamed_.find(site.device); renamed != renamed_.end()) {
        site.device = renamed->second;
    }
    Known known;
    known.interrupt = event.interrupt_id() != no_id;
    known.wanted = wanted_ == nullptr || (*wanted_)(event);
    known.site = known.wanted ? sites_.number_of(site) : Sites::none;
    if (known.site != Sites::none && event.reg() != nullptr) {
        sites_.describe(site, *event.reg());
    }
    return known;
}

void Observer::forget() {
    known_.clear();
    if (wanted_ != nullptr) {
        wanted_->forget();
    }
}

void Observer::add_all(std::span<const Event> events) {
    Event::resolve(events);
    for (const Event& event : events) {
        if (event.record.type == abi::RecordType::access) {
            take(event);
        }
    }
}

void Observer::take(const Event& event) {
    const Known known = this->known(event);
    if (known.site != Sites::none) {
        if (known.site >= boot_.uses.size()) {
            boot_.uses.resize(known.site + 1);
        }
        ++boot_.accesses;
        const analysis::Thread thread = threads_.of(event.record);
        const bool interrupt = sites_[known.site].interrupt;
        Stay& stay = stays_.of(thread);
        const LastReads::Found found =
            last_reads_.next(thread, event.record, known.site, stay.wrote);
        const std::uint32_t behind = interrupt ? stay.site : stay.next(event.record, known.site);
        Use& use = boot_.uses[known.site];
        use.unkept |= found.unkept;
        const std::uint32_t value = count(use, event, behind, found.read);
        if (!interrupt) {
            open_bursts_.add(thread, event.record, known.site, event.number);
            if (abi::is_write(event.record)) {
                pair(thread, event.record, {known.site, value});
            }
        }
    } else if (known.wanted) {
        ++boot_.left_out;
    }
    if (known.interrupt) {
        threads_.follow(event.record);
    }
}

void Observer::pair(analysis::Thread thread, const abi::Record& record, Token token) {
    const std::optional<Token> before = last_writes_.next(thread, record.device, token);
    if (!before) {
        return;
    }
    const std::pair<Token, Token> key(*before, token);
    const auto found = boot_.pairs.find(key);
    if (found != boot_.pairs.end()) {
        ++found->second;
    } else if (boot_.pairs.size() < Boot::most_pairs) {
        boot_.pairs.emplace(key, 1);
    } else {
        ++boot_.left_out;
    }
}

/// Counts the access. Returns the index of its value.
std::uint32_t Observer::count(Use& use, const Event& event, std::uint32_t behind,
                              std::optional<std::uint64_t> read) {
    const std::uint64_t value = event.record.value;
    if (use.count++ == 0) {
        use.first = event.number;
        use.behind = behind;
    }
    if ((event.record.flags & abi::flag_value_unknown) != 0) {
        return Token::any;
    }
    use.one_bit = use.one_bit && (use.values.empty() || std::popcount(use.last ^ value) <= 1);
    use.last = value;
    use.ones |= value;
    use.zeros |= ~value;
    const auto found = std::find_if(use.values.begin(), use.values.end(),
                                    [value](const auto& one) { return one.value == value; });
    if (found != use.values.end()) {
        ++found->count;
        return static_cast<std::uint32_t>(found - use.values.begin());
    }
    if (use.values.size() == Use::most_values) {
        use.many = true;
        return Token::any;
    }
    use.values.push_back({value, 1, event.number, behind, read});
    return static_cast<std::uint32_t>(use.values.size() - 1);
}

LastReads::Last& LastReads::find(const Key& key) {
    if (last_ == nullptr || key_ != key) {
        if (all_.size() == most) {
            all_.clear();
        }
        last_ = &all_[key];
        key_ = key;
    }
    return *last_;
}

LastReads::Found LastReads::next(analysis::Thread thread, const abi::Record& record,
                                 std::uint32_t site, std::uint32_t wrote) {
    if ((record.flags & abi::flag_value_unknown) != 0) {
        return {};
    }
    Last& last = find({abi::physical_address(record), thread});
    if (abi::is_write(record)) {
        last.written = record.value;
        last.site = site;
        return {last.read, 0};
    }
    last.read = record.value;
    return {std::nullopt, last.site == wrote ? last.written & ~record.value : 0};
}

std::optional<Token> LastWrites::next(analysis::Thread thread, std::uint16_t device, Token token) {
    if (last_.size() == most) {
        last_.clear();
    }
    const auto [at, added] = last_.try_emplace(std::uint64_t{device} << 32 | thread, token);
    if (added || at->second == token) {
        return std::nullopt;
    }
    return std::exchange(at->second, token);
}

void OpenBursts::add(analysis::Thread thread, const abi::Record& record, std::uint32_t site,
                     std::uint64_t event) {
    const std::uint64_t key = std::uint64_t{record.device} << 32 | thread;
    const std::uint64_t address = abi::physical_address(record);
    if (!abi::is_write(record)) {
        const auto found = open_.find(key);
        if (found != open_.end()) {
            end(found->second);
        }
        return;
    }
    Open& open = opened(key);
    if (open.address != address) {
        end(open);
    }
    if (open.length++ == 0) {
        open.address = address;
        open.first = event;
    }
    if (open.words.size() < Burst::most_words) {
        open.words.push_back({site, record.value});
    }
}

OpenBursts::Open& OpenBursts::opened(std::uint64_t key) {
    if (open_.size() == most && !open_.contains(key)) {
        std::erase_if(open_, [](const auto& of) { return of.second.length == 0; });
        if (open_.size() == most) {
            open_.clear();
        }
    }
    return open_[key];
}

void OpenBursts::end(Open& open) {
    if (open.length > 1) {
        const std::pair key(open.words.front().site, open.length);
        if (boot_.bursts.size() < Boot::most_bursts || boot_.bursts.contains(key)) {
            Burst& burst = boot_.bursts[key];
            burst.words.resize(open.words.size());
            for (std::size_t i = 0; i < open.words.size(); ++i) {
                burst.words[i].site = open.words[i].site;
                burst.words[i].ones |= open.words[i].value;
                burst.words[i].zeros |= ~open.words[i].value;
            }
            if (burst.count++ == 0) {
                burst.first = open.first;
            }
        } else {
            boot_.left_out += open.length;
        }
    }
    open.length = 0;
    open.words.clear();
}

} // namespace mmioscope::diff
