#include "control_page.hpp"

#include "system/error.hpp"

#include <unistd.h>

#include <cstring>

namespace mmioscope::guest {

namespace page_abi = abi::control;
using page_abi::Command, page_abi::Reply, page_abi::Request;

namespace {

constexpr std::uint64_t page = 4096; // abi/control.hpp

PhysicalRange one_page(PhysicalRange range) {
    if (range.begin % page != 0 || range.size != page) {
        throw failure("the device tree's control page is not one page: {:#x}+{:#x}", range.begin,
                      range.size);
    }
    return range;
}

} // namespace

ControlPage::ControlPage(PhysicalRange range)
    : memory_(one_page(range)), id_(static_cast<std::uint16_t>(::getpid() * 61)) {
    if (load(0) != page_abi::page_magic || load(4) != page_abi::version) {
        throw failure("the hypervisor's control page has another version");
    }
}

Reply ControlPage::ask(Command command, std::uint32_t first, std::uint32_t second) {
    return ask(page_abi::make_request(command, id_++, first, second));
}

Reply ControlPage::ask(const Request& request) {
    constexpr unsigned tries = 100;
    std::uint32_t words[sizeof(Request) / 4];
    static_assert(sizeof(Reply) == sizeof(Request));
    for (unsigned n = 0; n < tries; ++n) {
        const unsigned slot = page_abi::first_slot +
                              load(page_abi::page_ticket) % page_abi::slots * page_abi::slot_size;
        std::memcpy(words, &request, sizeof words);
        for (unsigned i = 0; i < 4; ++i) {
            store(slot + 4 * i, words[i]);
        }
        for (unsigned i = 0; i < 4; ++i) {
            words[i] = load(slot + sizeof(Request) + 4 * i);
        }
        Reply reply;
        std::memcpy(&reply, words, sizeof reply);
        if (reply.id == request.id && reply.check == page_abi::check_of(reply)) {
            return reply;
        }
    }
    throw failure("the hypervisor does not answer");
}

// A single load or store whose address is in one register: what HSR describes (abi/control.hpp).
std::uint32_t ControlPage::load(unsigned offset) const {
    std::uint32_t value;
    asm volatile("ldr %0, [%1]" : "=r"(value) : "r"(memory_.bytes().data() + offset) : "memory");
    return value;
}

void ControlPage::store(unsigned offset, std::uint32_t value) {
    asm volatile("str %0, [%1]" : : "r"(value), "r"(memory_.bytes().data() + offset) : "memory");
}

} // namespace mmioscope::guest
