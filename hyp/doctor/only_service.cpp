// In place of hyp/services/services.cpp.
#include "doctor/doctor.hpp"

namespace mmioscope {

namespace {
constinit doctor::Doctor doctor_service;
constexpr Service* only[] = {&doctor_service};
} // namespace

std::span<Service* const> linked_services() {
    return only;
}

} // namespace mmioscope
