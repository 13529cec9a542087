// What only the start needs: no CPU reads it once the guest runs. What the guest's traps need is in
// the Machine.
#pragma once

#include "dt/tree.hpp"
#include "mm/translation_table.hpp"

namespace mmioscope {

struct Setup {
    Tree tree;                          ///< of the boot loader
    Range boot_tree;                    ///< where it lies
    int beyond_reach{-1};               ///< node of a device above 4 GiB; negative: there is none
    FixedVector<int, 2> withheld_nodes; ///< the guest's tree says that they are disabled
    TranslationTable hyp_boot_table;    ///< used until the tree is read: image, tree and UART only
};

} // namespace mmioscope
