// What is done with a cache that cannot be used: it goes, for everything in it can be computed
// again, and nothing of it could be forgotten selectively any more.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace moil::cache {

// Thrown if the folder holds no cache that this program can use: damaged, of another format, or
// something else altogether.
class Unusable : public Error {
 public:
  using Error::Error;
};

// Removes what lies there, a folder or not: aside at once, so that a new cache can take the place
// even if removing is interrupted (FeatureCache removes the rest then). Whoever has it open
// keeps what they have. Throws kIo.
void discard(const std::filesystem::path& folder);

// The same of what is in the folder, which stays, for a process that may not touch what lies beside
// it; what is no folder is left.
void discard_content(const std::filesystem::path& folder);

// What discard() or discard_content() did not come to the end of, if it can be removed now.
void remove_discarded(const std::filesystem::path& folder);

}  // namespace moil::cache
