#include "board_tree.hpp"

#include "abi/chosen.hpp"

#include <cstdio>
#include <initializer_list>
#include <libfdt.h>
#include <stdexcept>

namespace mmioscope::sim {

namespace {

class Writer {
public:
    Writer() : blob_(16 * 1024) {
        check(fdt_create(blob_.data(), static_cast<int>(blob_.size())));
        check(fdt_finish_reservemap(blob_.data()));
    }
    void begin(const std::string& name) { check(fdt_begin_node(blob_.data(), name.c_str())); }
    void end() { check(fdt_end_node(blob_.data())); }
    void cells(const char* name, const std::vector<std::uint32_t>& values) {
        std::vector<fdt32_t> raw;
        for (const std::uint32_t v : values) raw.push_back(cpu_to_fdt32(v));
        check(fdt_property(blob_.data(), name, raw.data(), static_cast<int>(4 * raw.size())));
    }
    void text(const char* name, const std::vector<std::string>& values) {
        std::string joined;
        for (const std::string& v : values) joined += v + '\0';
        check(fdt_property(blob_.data(), name, joined.data(), static_cast<int>(joined.size())));
    }
    void bus(std::uint32_t address_cells, std::uint32_t size_cells) {
        cells("#address-cells", {address_cells});
        cells("#size-cells", {size_cells});
    }
    void device(const std::string& name, const std::string& compatible,
                std::initializer_list<std::uint32_t> reg, const char* status = nullptr) {
        begin(name);
        text("compatible", {compatible});
        cells("reg", reg);
        if (status != nullptr) text("status", {status});
        end();
    }
    Blob finish() {
        check(fdt_finish(blob_.data()));
        blob_.resize(fdt_totalsize(blob_.data()));
        return std::move(blob_);
    }

private:
    static void check(int error) {
        if (error != 0) throw std::runtime_error(fdt_strerror(error));
    }
    Blob blob_;
};

void write_chosen(Writer& w, const TreeOptions& o) {
    w.begin("chosen");
    w.bus(2, 2);
    w.text("bootargs", {"console=ttyAMA0"});
    if (!o.trace.empty()) w.text(abi::chosen::trace, o.trace);
    if (!o.engine.empty()) w.text(abi::chosen::engine, {o.engine});
    if (!o.policy.empty()) w.text(abi::chosen::policy, {o.policy});
    if (o.pre) w.text(abi::chosen::pre, {});
    if (o.slow_path) w.text(abi::chosen::slow_path, {});
    if (o.no_breakpoints) w.text(abi::chosen::no_breakpoints, {});
    if (o.user_firewall) w.text(abi::chosen::user_firewall, {});
    if (!o.uart.empty()) w.text(abi::chosen::uart, {o.uart});
    if (!o.control.empty()) w.text(abi::chosen::control, {o.control});
    if (!o.stream.empty()) w.text(abi::chosen::stream, {o.stream});
    if (o.stream_shared) w.text(abi::chosen::stream_shared, {});
    if (o.guest_reader) w.text(abi::chosen::guest_reader, {});
    if (o.watch) w.cells(abi::chosen::watch, *o.watch);
    if (o.pages) w.cells(abi::chosen::pages, *o.pages);
    if (o.probes) w.cells(abi::chosen::probes, o.probe_cells);
    if (!o.loads_modules.empty()) w.cells(abi::chosen::loads_modules, o.loads_modules);
    if (!o.stacks.empty()) w.text(abi::chosen::stacks, o.stacks);
    if (o.stack_size != 0) w.cells(abi::chosen::stack_size, {o.stack_size});
    if (!o.requests.empty()) w.cells(abi::chosen::requests, o.requests);
    if (!o.task_names.empty()) w.cells(abi::chosen::task_names, o.task_names);
    w.cells(abi::chosen::area_size, {o.area_size});
    w.device("module@80008000", abi::chosen::kernel, {0, at::kernel, 0, 0x1000});
    w.device("module@80600000", abi::chosen::ramdisk, {0, at::ramdisk, 0, 0x2345});
    w.end();
}

void write_cpus(Writer& w, unsigned count) {
    w.begin("cpus");
    w.bus(1, 0);
    for (unsigned i = 0; i < count; ++i) {
        w.begin("cpu@" + std::to_string(i));
        w.text("device_type", {"cpu"});
        w.cells("reg", {i});
        w.end();
    }
    w.end();
}

void write_board_devices(Writer& w) {
    w.begin("iofpga@3,00000000");
    w.bus(1, 1);
    w.cells("ranges", {0, 3, 0, 0x20'0000});
    w.device("sysreg@10000", "arm,vexpress-sysreg", {0x1'0000, 0x1000});
    w.device("uart@90000", "arm,pl011", {0x9'0000, 0x1000});
    w.device("uart@a0000", "arm,pl011", {0xa'0000, 0x1000});
    w.device("fifo@130000", "test,fifo", {0x13'0000, 0x1000});
    w.device("gadget@140000", "test,gadget", {0x14'0000, 0x100});
    w.device("neighbour@140100", "test,gadget", {0x14'0100, 0x100});
    w.device("wide@150000", "test,wide", {0x15'0000, 0x3000});
    w.device("broken@160000", "test,broken", {0x16'0000, 0x1000});
    w.device("hidden@170000", "test,hidden", {0x17'0000, 0x1000}, "disabled");
    w.end();
}

void write_bus(Writer& w) {
    w.begin("bus@8000000");
    w.text("compatible", {"simple-bus"});
    w.bus(2, 1);
    w.cells("ranges", {2, 0, 0, 0x1800'0000, 0x400'0000, 3, 0, 0, 0x1c00'0000, 0x400'0000});
    w.begin("motherboard");
    w.bus(2, 1);
    w.cells("ranges", {});
    w.device("sram@2,00000000", "mtd-ram", {2, 0, 0x1'0000});
    write_board_devices(w);
    w.end();
    w.end();
}

} // namespace

Blob make_board_tree(const TreeOptions& o) {
    Writer w;
    w.begin("");
    w.text("compatible", {"arm,vexpress,v2p-ca15,tc1", "arm,vexpress"});
    w.bus(2, 2);
    w.begin("aliases");
    w.text("serial0", {"/bus@8000000/motherboard/iofpga@3,00000000/uart@90000"});
    w.text("fifo", {"/bus@8000000/motherboard/iofpga@3,00000000/fifo@130000"});
    w.end();
    write_chosen(w, o);
    write_cpus(w, o.cpus);
    w.begin("memory@80000000");
    w.text("device_type", {"memory"});
    w.cells("reg", {static_cast<std::uint32_t>(o.memory_begin >> 32),
                    static_cast<std::uint32_t>(o.memory_begin),
                    static_cast<std::uint32_t>(o.memory_size >> 32),
                    static_cast<std::uint32_t>(o.memory_size)});
    w.end();
    w.device("interrupt-controller@2c001000", "arm,cortex-a15-gic",
             {0, at::gic, 0, 0x1000, 0, at::gic + 0x1000, 0, 0x1000});
    write_bus(w);
    w.end();
    return w.finish();
}

Blob with_room(const Blob& tree, std::size_t extra) {
    Blob out(tree.size() + extra);
    if (fdt_open_into(tree.data(), out.data(), static_cast<int>(out.size())) != 0)
        throw std::runtime_error("fdt_open_into");
    return out;
}

Tree tree_of(const Blob& blob) {
    Tree tree;
    if (const BootError error = tree.read(blob.data(), blob.size()))
        throw std::runtime_error(std::string(error.what) + ": " + error.subject);
    return tree;
}

} // namespace mmioscope::sim
