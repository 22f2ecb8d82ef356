#include "daemon/models/pack_kind.h"

#include "base/error.h"

namespace moil::night {

void require_same_kind(const data::PackManifest& pack, const data::Kind& kind) {
  if (pack.sample_kind->name() == kind.name()) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the pack's samples are of the kind \"" + std::string(pack.sample_kind->name()) +
                  "\"; the model takes \"" + std::string(kind.name()) + "\"");
}

}  // namespace moil::night
