#include "analysis/memory_moves.hpp"
#include "analysis/sharing.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "tree/device_names.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace mmioscope::cli::sharing_command {

namespace {

struct Options {
    ViewOptions view;
    std::size_t limit = 20;
    bool all = false;
    bool memory = false;
    std::string by = "page";
};

constexpr char footer[] = R"(
Prints what CPUs do with the same registers. Likely bugs, a line for each:

  lost update      a candidate: a function read a register, another CPU wrote it, and the function wrote it with the bits
                   that it had read; "what": the bits that were lost, as the other CPU wrote them
  never ended      an interrupt that a CPU acknowledged (GICC_IAR) and did not end (GICC_EOIR)

With --all, behind these, also what most drivers have:

  shared register, shared page    several CPUs used it
  never read back  a register that was written, and not read after that

  cpus, reads, writes    of the register or page
  function, other function   lost update: who wrote last, and whose write was lost; shared: who made the two accesses, by
                         two CPUs, that were closest in time; others: who wrote last, or acknowledged
  apart us               time between these two; event: the later one (mmioscope print --at)

docs/sharing.md defines each finding, and says what it cannot see. Registers that each CPU has for itself, those of the
GIC, are not shared. Nothing is concluded across a loss. -F, --cpu, --from and --to choose the accesses that are looked
at: what they leave out can make findings appear or disappear.

--memory: which watched memory (mmioscope run --watch), or which pages (--pages) move between CPUs. A page, a line of 64 bytes or a byte moves to a
CPU that reads it if another one has written it since that CPU's last read, and to one that writes it if another one has
read or written it since its last write.

  pages, lines, bytes    accesses that moved one; the lines are those with the most moves
  false sharing    a page moved often, and its lines seldom (or a line, and its bytes): CPUs use different parts of it
  function, task   who took it most often, and from whom; times: how often these two did; event: the first move
  --pages          none of their moves is missing; a few were not needed: lost again before the instruction ran. Lines are not known
  changed          loads that returned what no CPU had stored: another master did, by DMA; event: the first one

Examples:
  mmioscope sharing boot.mmio
  mmioscope sharing --memory --by line boot.mmio
  mmioscope sharing --all --limit 0 --format csv boot.mmio

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read. Findings do not change it.
)";

Status sharing(const Options& options) {
    reading::Trace trace(trace_options(options.view));
    const std::size_t most = options.limit == 0 ? SIZE_MAX : options.limit;
    const auto print = [&](reading::Consumer& consumer, const auto& table_of) {
        return print_table(options.view, trace, consumer, table_of, reading::Losses::all);
    };
    if (options.memory) {
        const auto by = std::ranges::find(analysis::moves_by_words, options.by);
        const auto moves = analysis::make_memory_moves(
            static_cast<analysis::MovesBy>(by - analysis::moves_by_words.begin()),
            tree::guest_memory_in(trace.reader().regions()), reading::selects(trace.options()),
            most);
        return print(*moves, [&] { return moves->table(); });
    }
    analysis::Sharing sharing;
    return print(sharing, [&] { return sharing.table(most, options.all); });
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_count(command, "-n,--limit", options->limit, "Lines of each finding (default 20; 0: all)");
    command.add_flag("--all", options->all,
                     "Also what is only information: shared registers and pages, and registers "
                     "that are never read back");
    CLI::Option* const memory = command.add_flag(
        "--memory", options->memory, "Instead, which watched memory moves between CPUs");
    command.add_option("--by", options->by, "Its lines are for each of these (default page)")
        ->check(one_of(analysis::moves_by_words))
        ->needs(memory);
    add_format_option(command, options->view, "one table row per line, numbers not rounded");
    add_wide_option(command, options->view);
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return sharing(*options); };
}

} // namespace

const Command row{"sharing", "Show lost updates, open interrupts, registers that CPUs share", add};

} // namespace mmioscope::cli::sharing_command
