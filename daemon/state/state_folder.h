// The state folder, present, private and writable.
//
// One that is not there is made (mode 0700). One that is there is taken as it is: it must be this
// user's, closed to others, and moild's or empty. Nothing of it is changed before that is known.
#pragma once

#include <filesystem>

#include "daemon/spec/state_layout.h"

namespace moil::daemon {

class StateFolder {
 public:
  // kIo if it cannot be made or used; kFailedPrecondition if it is not such a folder.
  explicit StateFolder(const std::filesystem::path& root);
  const StateLayout& layout() const { return layout_; }

 private:
  StateLayout layout_;
};

}  // namespace moil::daemon
