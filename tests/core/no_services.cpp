// In place of hyp/services/: the core alone, linked and tested as a hypervisor of its own.
#include "engine/service.hpp"

namespace mmioscope {

std::span<Service* const> linked_services() {
    return {};
}

} // namespace mmioscope
