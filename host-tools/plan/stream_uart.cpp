#include "plan/stream_uart.hpp"

#include "dt/uart.hpp"

namespace mmioscope::plan {

StreamUart stream_uart(const Survey& board) {
    const int console = board.board.uart_node;
    for (int node = 0; node < board.tree.count(); ++node) {
        if (node != console && !board.tree.disabled(node) && uart_of(board.tree, node)) {
            return {node, false};
        }
    }
    return {console, console >= 0};
}

} // namespace mmioscope::plan
