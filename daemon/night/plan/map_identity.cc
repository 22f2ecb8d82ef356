#include "daemon/night/plan/map_identity.h"

namespace moil::night {

MapIdentity map_identity(Backbone& backbone, const std::string& split, daemon::StoredFloats dtype,
                         const data::Kind& kind) {
  const std::string stored = dtype == daemon::StoredFloats::kBf16 ? " bf16" : " fp32";
  return {
      cache::model_id(backbone.fingerprint() + " at " + split + stored, kind.fingerprint()),
      "up to " + split + ", " + std::to_string(backbone.feature_elements()) + " elements" + stored};
}

std::map<std::string, std::string> answer_by_arithmetic(Backbone& backbone,
                                                        const KernelProfile& known) {
  const std::string arithmetic =
      cache::to_hex(cache::model_id(backbone.arithmetic(), "arithmetic"));
  if (const auto it = known.answers.find(arithmetic); it != known.answers.end())
    backbone.take_answer(it->second);
  return {{arithmetic, backbone.answer()}};
}

}  // namespace moil::night
