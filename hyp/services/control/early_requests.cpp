#include "control/early_requests.hpp"

namespace mmioscope {

BootError read_requests(const Tree& tree, EarlyRequests& requests) {
    constexpr std::size_t cells = sizeof(EarlyRequest) / 4;
    const Property list = tree.property(tree.find("/chosen"), abi::chosen::requests);
    static_assert(abi::chosen::max_requests == 32); // the message below says so
    if (list.size % sizeof(EarlyRequest) != 0)
        return {"mmioscope,requests must have three cells for each request", ""};
    for (std::size_t n = 0; n < list.size / 4; n += cells)
        if (!requests.push_back({list.cell(n), {list.cell(n + 1), list.cell(n + 2)}}))
            return {"mmioscope,requests has more than 32 requests", ""};
    return {};
}

} // namespace mmioscope
