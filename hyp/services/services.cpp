#include "services/services.hpp"

namespace mmioscope {

namespace {

constinit Services services;
/// A constant, so that it is sealed with the other constants.
constexpr std::array list = list_of(services);

} // namespace

std::span<Service* const> linked_services() {
    return list;
}

} // namespace mmioscope
