#include "plan/stream_uart.hpp"

#include "dt/uart.hpp"

namespace mmioscope::plan {

StreamUart stream_uart(const Survey& board) {
    const int console = board.board.uart_node;
    int disabled = -1;
    for (int node = 0; node < board.tree.count(); ++node) {
        if (node == console || !uart_of(board.tree, node)) {
            continue;
        }
        if (!board.tree.disabled(node)) {
            return {node, false};
        }
        if (disabled < 0) {
            disabled = node;
        }
    }
    // The stream's service does not share an 8250 (hyp/services/stream/uart_line.hpp).
    if (console >= 0 && board.board.uart.model != UartModel::uart8250) {
        return {console, true};
    }
    return {disabled, false};
}

} // namespace mmioscope::plan
