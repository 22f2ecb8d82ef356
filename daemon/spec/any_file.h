// Whether a device has a model that reads text, or files of any kind (datasets/kinds/tokens/).
#pragma once

#include "daemon/spec/state_layout.h"

namespace moil::daemon {

// By the descriptions of all versions in the model store. A device without one refuses a file that
// is no photo, sound or table when it is labelled, and a note in a folder of photos with it.
[[nodiscard]] bool reads_any_file(const StateLayout& layout);

}  // namespace moil::daemon
