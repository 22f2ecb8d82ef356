#include "daemon/night/maps/head_network.h"

#include "engine/model/ending.h"
#include "engine/model/preparation.h"

namespace moil::night {
namespace {

constexpr std::int64_t kBatch = 16;

}  // namespace

HeadNetwork::HeadNetwork(const ModelDescription& head, KernelSelector& kernels)
    : head_(head),
      form_{answers_probabilities(head)},
      network_(prepare_inference(head), {.batch = kBatch, .plan = {}}, kernels) {}

void HeadNetwork::allocate(const WeightsOfPart& weights) {
  WeightMap own = weights(head_);
  (void)prepare_inference(head_, own);
  network_.allocate();
  network_.move_in(own);
}

}  // namespace moil::night
