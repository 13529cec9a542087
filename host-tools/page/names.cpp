#include "page/names.hpp"

#include "page/json.hpp"

#include <fmt/ranges.h>

#include <iterator>

namespace mmioscope::page {

namespace {

std::string field_json(const Field& field) {
    return fmt::format("[{},{},{},{}]", json(field.name), field.low, field.width,
                       json_list(field.values, [](const auto& value) {
                           return fmt::format("[{},{}]", json(value.first), json(value.second));
                       }));
}

std::string line_json(const SourceLine& line) {
    return fmt::format("[{},{},{}]", json(line.function), json(line.file), line.line);
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

std::string EventNames::Set::all() const {
    std::string list = "[null";
    for (const std::string* one : all_) {
        list.append(",\n").append(*one);
    }
    return list + ']';
}

std::uint32_t EventNames::reg(const Register* reg) {
    return reg == nullptr
               ? 0
               : registers_.number(fmt::format("[{},{},{},{},{}]", json(reg->name), reg->offset,
                                               reg->size, json(reg->description),
                                               json_list(reg->fields, field_json)));
}

std::uint32_t EventNames::place(const Place& place, std::uint16_t device) {
    return places_.number(fmt::format("[{},{},{},{},{}]", device == abi::no_device ? -1 : device,
                                      json(place.device), json(place.offset), reg(place.reg),
                                      json(place.registers)));
}

std::uint32_t EventNames::location(const Location* at) {
    return at == nullptr
               ? 0
               : locations_.number(fmt::format("[{},{},{},{}]", json(at->function), at->offset,
                                               json(at->module), json_list(at->lines, line_json)));
}

std::uint32_t EventNames::task(const Task* task) {
    return task == nullptr
               ? 0
               : tasks_.number(fmt::format("[{},{},{}]", task->pid, task->tgid, json(task->comm)));
}

std::uint32_t EventNames::context(const Event& event) {
    // Events of one context have the same code, caller and task, but an access may be anywhere in a
    // device.
    const auto named = [&] {
        return Context{0, location(event.code()), location(event.caller()), task(event.task()), 0};
    };
    Context context = event.context() == 0 ? named() : of(known_, event.context(), named);
    context[0] = of(known_places_, event.place_id(),
                    [&] { return place(event.place(), event.record.device); });
    if (event.interrupt_id() != no_id) {
        context[4] = of(known_interrupts_, event.interrupt_id(),
                        [&] { return interrupts_.number(json(event.interrupt())); });
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

std::string EventNames::all() const {
    std::string contexts = "[null";
    for (const Context& one : sets_) {
        fmt::format_to(std::back_inserter(contexts), ",\n[{}]", fmt::join(one, ","));
    }
    return fmt::format("{{\"registers\":{},\"places\":{},\"locations\":{},\"tasks\":{},"
                       "\"interrupts\":{},\"contexts\":{}],\"texts\":{}}}",
                       registers_.all(), places_.all(), locations_.all(), tasks_.all(),
                       interrupts_.all(), contexts, json_list(texts_, [](const auto& one) {
                           return fmt::format("[{},{}]", one.first, json(one.second));
                       }));
}

} // namespace mmioscope::page
