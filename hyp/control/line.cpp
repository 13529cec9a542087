#include "control/line.hpp"

#include "control/command.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

void serve_line(Cpu& cpu) {
    RequestLine& requests = cpu.machine->stream.requests();
    const abi::control::Request* request = requests.take(cpu.number);
    if (request == nullptr) return;
    if (const auto reply = serve(cpu, *request)) requests.answer(*reply);
    else requests.later();
}

} // namespace mmioscope
