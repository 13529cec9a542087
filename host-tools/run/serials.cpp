#include "run/serials.hpp"

#include "system/error.hpp"
#include "tree/device_tree.hpp"

#include <map>

namespace mmioscope::run {

namespace {

/// The node of QEMU's serial N: from the board, or by the alias serialN.
std::string serial_node(const Board& board, const tree::Aliases& aliases, unsigned serial) {
    if (!board.serial_nodes[serial].empty()) {
        return std::string(board.serial_nodes[serial]);
    }
    const auto alias = aliases.find(fmt::format("serial{}", serial));
    return alias == aliases.end() ? "" : alias->second;
}

struct Serial {
    unsigned number;
    std::string node;
};

std::optional<Serial> find_stream(const Options& options, const Board& board, const Bytes& tree) {
    if (options.stream.empty()) {
        return std::nullopt;
    }
    if (board.one_serial() && options.stream_shared) {
        return Serial{
            board.guest_serial,
            options.stream}; // whatever it is called; the hypervisor looks whether it is one
    }
    const tree::Aliases aliases = tree::aliases(tree);
    for (unsigned serial = 0; serial < board.serials; ++serial) {
        const std::string node = serial_node(board, aliases, serial);
        if (node.empty() ||
            (fmt::format("serial{}", serial) != options.stream && node != options.stream)) {
            continue;
        }
        if (options.stream_shared && serial != board.guest_serial) {
            throw bad_input(
                "--stream {}: --stream-shared needs the UART of the guest's console, serial{}",
                options.stream, board.guest_serial);
        }
        if (!options.stream_shared && serial == board.guest_serial) {
            throw bad_input(
                "--stream {}: this UART is the guest's console; add --stream-shared to share it",
                options.stream);
        }
        return Serial{serial, node};
    }
    throw bad_input(
        "--stream {}: the device tree has no such UART among its aliases serial0 to serial{}",
        options.stream, board.serials - 1);
}

/// The first free one.
Serial find_other(const Board& board, const Bytes& tree, unsigned stream) {
    const tree::Aliases aliases = tree::aliases(tree);
    for (unsigned serial = 0; serial < board.serials; ++serial) {
        const std::string node = serial_node(board, aliases, serial);
        if (!node.empty() && serial != board.guest_serial && serial != stream) {
            return {serial, node};
        }
    }
    throw bad_input(
        "--stream: this UART is the hypervisor's own, and the device tree has no other");
}

} // namespace

Serials assign_serials(const Options& options, const Board& board, const Bytes& tree) {
    Serials serials;
    serials.hypervisor = board.hypervisor_serial;
    if (!board.one_serial()) {
        serials.hypervisor_node = serial_node(board, tree::aliases(tree), serials.hypervisor);
        if (serials.hypervisor_node.empty()) {
            throw bad_input("the device tree has no alias serial{}: the hypervisor's messages need "
                            "a UART of their own",
                            serials.hypervisor);
        }
    }
    if (const std::optional<Serial> stream = find_stream(options, board, tree)) {
        serials.stream = stream->number;
        serials.stream_node = stream->node;
    }
    if (serials.stream == board.hypervisor_serial && !board.one_serial()) {
        const Serial other = find_other(board, tree, *serials.stream);
        serials.hypervisor = other.number;
        serials.hypervisor_node = other.node;
    }
    return serials;
}

} // namespace mmioscope::run
