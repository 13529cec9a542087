#include "services/services.hpp"

namespace mmioscope {

namespace {

constinit Services services;

} // namespace

std::span<Service* const> linked_services() {
    return services.list;
}

} // namespace mmioscope
