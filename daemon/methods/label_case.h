// Before a method creates labels: who gives one that differs in case alone from one that is there
// is asked which of them is meant. Such methods take `as_spelled`: it is another label.
#pragma once

#include <span>
#include <string>

#include "daemon/rpc/error.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

// ErrorWithData, with both as "other_case". gone: as LabelStore::check_case() has it.
inline void check_case(const data::LabelStore& store, std::span<const std::string> labels,
                       bool as_spelled, const std::string& gone = {}) {
  if (as_spelled) return;
  try {
    store.check_case(labels, gone);
  } catch (const data::OtherCase& refused) {
    throw ErrorWithData(refused,
                        {{"other_case", {{"given", refused.given}, {"label", refused.label}}}});
  }
}

}  // namespace moil::daemon
