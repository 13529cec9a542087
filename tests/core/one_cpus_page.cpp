// In place of hyp/services/: a page of the guest's memory that one CPU has at a time. The guest is
// tests/guest/moves.cpp.
#include "core/one_cpus_page.hpp"

namespace mmioscope {

namespace {
constinit Integrity integrity;
constinit OneCpusPage owner(integrity, 0x8500'0000, 625); // 10 microseconds
constinit Service* const services[] = {&owner, &integrity};
} // namespace

std::span<Service* const> linked_services() {
    return services;
}

} // namespace mmioscope
