// Digests of samples, as a method's parameters list them.
#pragma once

#include <string>
#include <vector>

#include "datasets/identity/digest.h"

namespace moil::daemon {

// 1 to `most` of them; else ValidationError, at "/MEMBER" or "/MEMBER/N" of what `what` names.
[[nodiscard]] std::vector<data::Digest> checked_digests(const std::vector<std::string>& texts,
                                                        std::size_t most, const std::string& member,
                                                        const std::string& what);

}  // namespace moil::daemon
