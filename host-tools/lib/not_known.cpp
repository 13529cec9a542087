#include "lib/not_known.hpp"

#include <algorithm>

namespace mmioscope::trace {

NotKnown::NotKnown(std::string_view list) {
    list = list.substr(0, list.find(';'));
    while (!list.empty()) {
        std::string_view name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), name.size() + 1));
        name = name.substr(0, name.find('('));
        name.remove_prefix(std::min(name.size(), name.find_first_not_of(' ')));
        names_.emplace(name.substr(0, name.find_last_not_of(' ') + 1));
    }
}

} // namespace mmioscope::trace
