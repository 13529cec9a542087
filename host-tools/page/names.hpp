// What the tool knows of each event beside its record, for the page: its device and register,
// function, caller, task and interrupt. Events share most of these, so each different combination
// is a context with a number.
#pragma once

#include "reading/drive.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mmioscope::page {

class EventNames final : public reading::Consumer {
public:
    void add(const Event& event) override;
    void forget() override { known_places_.clear(), known_interrupts_.clear(), known_.clear(); }

    /// The context of each record, from number 1 on; 0: no event of its own.
    std::span<const std::uint32_t> contexts() const { return contexts_; }
    /// An object: Names of app/src/facts.ts.
    std::string all() const;

private:
    /// Different things of one kind, as JSON, numbered from 1 on.
    class Set {
    public:
        std::uint32_t number(std::string json);
        /// An array, whose element 0 is null.
        std::string all() const;

    private:
        std::unordered_map<std::string, std::uint32_t> numbers_;
        std::vector<const std::string*> all_; ///< in their order
    };

    std::uint32_t place(const Place& place, std::uint16_t device);
    std::uint32_t reg(const Register* reg);
    std::uint32_t location(const Location* at);
    std::uint32_t task(const Task* task);
    std::uint32_t context(const Event& event);

    using Context = std::array<std::uint32_t, 5>; ///< place, code, caller, task, interrupt

    Set registers_, places_, locations_, tasks_, interrupts_;
    std::map<Context, std::uint32_t> numbers_;
    std::vector<Context> sets_; ///< by number, from 1 on
    // Numbers of what was named before, by ids that are valid until forget().
    std::unordered_map<Id, std::uint32_t> known_places_, known_interrupts_;
    std::unordered_map<std::uint64_t, Context> known_; ///< by Event::context()
    std::vector<std::uint32_t> contexts_;
    std::vector<std::pair<std::uint64_t, std::string>> texts_; ///< by the number of the event
};

} // namespace mmioscope::page
