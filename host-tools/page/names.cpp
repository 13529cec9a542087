#include "page/names.hpp"

#include "page/json.hpp"

#include <fmt/ranges.h>

#include <string_view>

namespace mmioscope::page {

namespace {

void append_field(Text& to, const Field& field) {
    to.push_back('[');
    append_json(to, field.name);
    print(to, ",{},{},", field.low, field.width);
    append_list(to, field.values, [&to](const auto& value) {
        to.push_back('[');
        append_value(to, value.first);
        to.push_back(',');
        append_json(to, value.second);
        to.push_back(']');
    });
    to.push_back(']');
}

/// The entry of `key`, made at first.
template <typename Map, typename Make>
typename Map::mapped_type of(Map& map, const typename Map::key_type& key, const Make& make) {
    const auto found = map.find(key);
    return found != map.end() ? found->second : map.emplace(key, make()).first->second;
}

} // namespace

std::uint32_t EventNames::Set::number(std::string json) {
    const auto [at, added] =
        numbers_.try_emplace(std::move(json), static_cast<std::uint32_t>(all_.size() + 1));
    if (added) {
        all_.push_back(&at->first);
    }
    return at->second;
}

void EventNames::Set::write(Text& to) const {
    print(to, "[null");
    for (const std::string* one : all_) {
        print(to, ",\n{}", *one);
    }
    to.push_back(']');
}

std::uint32_t EventNames::reg(const Register* reg) {
    if (reg == nullptr) {
        return 0;
    }
    Text text;
    text.push_back('[');
    append_json(text, reg->name);
    print(text, ",{},{},", reg->offset, reg->size);
    append_json(text, reg->description);
    text.push_back(',');
    append_list(text, reg->fields, [&text](const Field& field) { append_field(text, field); });
    text.push_back(']');
    return registers_.number(fmt::to_string(text));
}

std::uint32_t EventNames::place(const Place& place, std::uint16_t device) {
    Text text;
    print(text, "[{},", device == abi::no_device ? -1 : device);
    append_json(text, place.device);
    text.push_back(',');
    append_value(text, place.offset);
    print(text, ",{},", reg(place.reg));
    append_json(text, place.registers);
    text.push_back(']');
    return places_.number(fmt::to_string(text));
}

std::uint32_t EventNames::location(const Location* location) {
    if (location == nullptr) {
        return 0;
    }
    Text text;
    text.push_back('[');
    append_json(text, location->function);
    print(text, ",{},", location->offset);
    append_json(text, location->module);
    text.push_back(',');
    append_list(text, location->lines, [&text](const SourceLine& line) {
        text.push_back('[');
        append_json(text, line.function);
        text.push_back(',');
        append_json(text, line.file);
        print(text, ",{}]", line.line);
    });
    text.push_back(']');
    return locations_.number(fmt::to_string(text));
}

std::uint32_t EventNames::context(const Event& event) {
    // Events of one context have the same code, caller and task, but an access may be anywhere in a
    // device.
    const auto named = [this, &event] {
        std::uint32_t task = 0;
        if (event.task() != nullptr) {
            Text text;
            print(text, "[{},{},", event.task()->pid, event.task()->tgid);
            append_json(text, event.task()->comm);
            text.push_back(']');
            task = tasks_.number(fmt::to_string(text));
        }
        return Context{0, location(event.code()), location(event.caller()), task, 0};
    };
    Context context = event.context() == 0 ? named() : of(known_, event.context(), named);
    context[0] = of(known_places_, event.place_id(),
                    [&] { return place(event.place(), event.record.device); });
    if (event.interrupt_id() != no_id) {
        context[4] = of(known_interrupts_, event.interrupt_id(), [&] {
            Text text;
            append_json(text, event.interrupt());
            return interrupts_.number(fmt::to_string(text));
        });
    }
    const auto [at, added] =
        numbers_.try_emplace(context, static_cast<std::uint32_t>(sets_.size() + 1));
    if (added) {
        sets_.push_back(context);
    }
    return at->second;
}

void EventNames::add(const Event& event) {
    if (event.number == 0) { // a loss that no record tells
        return;
    }
    contexts_.resize(event.number);
    contexts_.back() = context(event);
    if (!event.text().empty()) {
        texts_.emplace_back(event.number, event.text());
    }
}

void EventNames::write(Text& to) const {
    const auto put = [&to](std::string_view name, const Set& set) {
        print(to, "\"{}\":", name);
        set.write(to);
        to.push_back(',');
    };
    put("registers", registers_);
    put("places", places_);
    put("locations", locations_);
    put("tasks", tasks_);
    put("interrupts", interrupts_);
    print(to, "\"contexts\":[null");
    for (const Context& one : sets_) {
        print(to, ",\n[{}]", fmt::join(one, ","));
    }
    print(to, "],\"texts\":");
    append_list(to, texts_, [&to](const auto& one) {
        print(to, "[{},", one.first);
        append_json(to, one.second);
        to.push_back(']');
    });
}

} // namespace mmioscope::page
