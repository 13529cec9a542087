// What a trace says that it does not know: its text `not-known`, "engine, time (numbers of lines),
// pc; ...".
//
// Such a thing has its place in the file all the same, in which nothing of meaning stands. So
// whoever shows something of that name asks first.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace mmioscope::trace {

class NotKnown {
public:
    NotKnown() = default;
    /// Names with commas between. What stands in parentheses behind one explains it; what stands
    /// behind a semicolon is not of the whole trace.
    explicit NotKnown(std::string_view list);

    bool has(std::string_view name) const { return names_.contains(name); }

private:
    std::set<std::string, std::less<>> names_;
};

} // namespace mmioscope::trace
