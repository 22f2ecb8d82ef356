#include "daemon/night/head_network.h"

#include "daemon/night/model_folder.h"
#include "daemon/night/probabilities.h"
#include "engine/graph/preparation.h"

namespace moil::night {
namespace {

constexpr std::int64_t kBatch = 16;

}  // namespace

HeadNetwork::HeadNetwork(const ModelDescription& head, const WeightMap& all,
                         KernelSelector& kernels)
    : answers_probabilities_(ends_in_softmax(head)),
      weights_(weights_of(head, all)),
      network_(prepare_inference(head, weights_), {.batch = kBatch, .plan = {}}, kernels) {}

void HeadNetwork::allocate() {
  network_.allocate();
  network_.load(weights_);
}

std::size_t HeadNetwork::bytes() const {
  return network_.plan().memory.total_bytes + weight_bytes(weights_);
}

}  // namespace moil::night
