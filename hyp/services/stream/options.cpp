#include "stream/options.hpp"

#include "abi/chosen.hpp"
#include "dt/option.hpp"

namespace mmioscope {

namespace {

constexpr Word folds[] = {{"off", static_cast<std::uint32_t>(abi::Fold::off)},
                          {"steps", static_cast<std::uint32_t>(abi::Fold::steps)},
                          {"polls", static_cast<std::uint32_t>(abi::Fold::polls)}};

} // namespace

BootError read_stream_options(const Tree& tree, StreamOptions& options) {
    const int chosen = tree.find("/chosen");
    if (auto e = read_node(tree, chosen, abi::chosen::stream, "unknown device in mmioscope,stream",
                           options.node))
        return e;
    if (auto e = read_cell(tree, chosen, abi::chosen::stream_baud, options.baud)) return e;
    if (auto e = read_cell(tree, chosen, abi::chosen::stream_quantum, options.quantum)) return e;
    options.shared = tree.has(chosen, abi::chosen::stream_shared);
    options.paced = tree.has(chosen, abi::chosen::stream_paced);
    if (options.baud < 300 || options.baud > 10'000'000)
        return {"mmioscope,stream-baud must be 300 to 10,000,000", ""};
    if (!read_word(tree, chosen, abi::chosen::stream_fold, folds, options.fold))
        return {"mmioscope,stream-fold must be off, steps or polls", ""};
    return {};
}

} // namespace mmioscope
