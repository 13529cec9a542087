#include "ctl.hpp"

#include "announced.hpp"
#include "control/requests.hpp"
#include "control/steering.hpp"
#include "dt/regions.hpp"
#include "modules.hpp"
#include "system/message.hpp"

namespace mmioscope::guest {

namespace {

class PageChannel : public control::Channel {
public:
    explicit PageChannel(ControlPage& page) : page_(page) {}
    abi::control::Reply ask(const abi::control::Request& request) override {
        return page_.ask(request);
    }

private:
    ControlPage& page_;
};

/// Finds devices by name, as the hypervisor's own code finds them in the tree.
wire::StreamHead devices(std::span<const std::byte> tree) {
    const auto regions = std::make_unique<RegionTable>();
    const auto nodes = std::make_unique<Tree>();
    int beyond_reach = -1;
    if (nodes->read(tree.data(), tree.size()) || list_regions(*nodes, *regions, beyond_reach)) {
        throw bad_input("cannot read /sys/firmware/fdt, which has the names of devices; use "
                        "addresses, as BASE+SIZE");
    }
    wire::StreamHead head{};
    head.regions.assign(regions->begin(), regions->end());
    for (const auto& [name, path] : device_tree_aliases()) {
        head.aliases.emplace(name, path);
    }
    return head;
}

Status tell_modules(std::future<ControlAccess>& access) {
    const std::vector<std::string> marks = module_marks();
    const ControlAccess control = access.get();
    PageChannel channel(*control.page);
    for (const std::string& mark : marks) {
        control::carry_out(std::vector<std::string>{"mark", mark}, {}, channel);
    }
    return Status::fine;
}

} // namespace

ControlAccess open_control() {
    const Announced announced = read_announced();
    if (!announced.control) {
        throw bad_input("the hypervisor has no control page: mmioscope,control is off");
    }
    return {std::make_unique<ControlPage>(*announced.control), device_tree()};
}

Status steer(std::span<const std::string> words, std::future<ControlAccess>& access) {
    if (words.size() == 1 && words.front() == "modules") {
        return tell_modules(access);
    }
    // Check the words first, so that wrong ones change nothing. Any name is good enough for that.
    control::asks_of(words, [](const std::string&) {
        return std::vector{control::Place{0, 4096}};
    });
    const ControlAccess control = access.get();
    PageChannel channel(*control.page);
    const control::FindDevice find = [&control](const std::string& name) {
        return control::find_device(devices(control.device_tree), name);
    };
    write_output(control::carry_out(words, find, channel));
    return status_of_output(Status::fine);
}

} // namespace mmioscope::guest
