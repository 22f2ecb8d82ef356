#include "daemon/models/sequence_of_kind.h"

#include "datasets/kinds/tokens/tokens_kind.h"

namespace moil::night {

TaskPtr sequence_task_of(const data::Kind& kind) {
  const auto* tokens = data::tokens_of(kind);
  if (tokens == nullptr) return sequence_task(kind.symbols());
  return sequence_task(kind.symbols(), tokens->vocabulary.padding());
}

}  // namespace moil::night
