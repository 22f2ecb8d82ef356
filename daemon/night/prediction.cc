#include "daemon/night/prediction.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "base/error.h"
#include "daemon/night/model_folder.h"
#include "engine/device/kernel_selector.h"
#include "engine/graph/ending.h"
#include "engine/graph/network.h"
#include "engine/graph/preparation.h"
#include "engine/kernels/softmax.h"

namespace moil::night {
namespace {

using daemon::Json;

// Measuring kernels would take longer than the few samples that are asked about.
KernelSelector first_kernels() {
  KernelSelector::Options options;
  options.measure = false;
  return KernelSelector(options);
}

class Predictor {
 public:
  Predictor(ModelBundle bundle, std::size_t top)
      : labels_(std::move(bundle.labels)),
        is_probability_(answers_probabilities(bundle.description)),
        top_(std::min(top, labels_.size())),
        maker_(bundle.kind->maker({})),
        kernels_(first_kernels()),
        network_(prepare_inference(bundle.description, bundle.weights), {.batch = 1, .plan = {}},
                 kernels_) {
    network_.allocate();
    network_.move_in(bundle.weights);
  }

  Json of(const ReadSample& read) {
    maker_->load(read(), "the sample");
    maker_->make({}, /*view=*/0, network_.input(0));
    network_.forward();
    return most_likely({network_.output(0), labels_.size()});
  }

 private:
  Json most_likely(std::span<const float> outputs) const {
    std::vector<float> chances(outputs.begin(), outputs.end());
    if (!is_probability_)
      softmax(chances.data(), chances.data(), static_cast<std::int64_t>(chances.size()), 0, 1);
    std::vector<std::size_t> order(chances.size());
    std::iota(order.begin(), order.end(), 0U);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top_), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return chances[a] != chances[b] ? chances[a] > chances[b] : a < b;
                      });
    Json found = Json::array();
    for (std::size_t i = 0; i < top_; ++i)
      found.push_back({{"label", labels_[order[i]]}, {"probability", chances[order[i]]}});
    return {{"top", std::move(found)}};
  }

  std::vector<std::string> labels_;
  bool is_probability_;
  std::size_t top_;
  std::unique_ptr<data::SampleMaker> maker_;
  KernelSelector kernels_;
  Network network_;
};

}  // namespace

Json predict(const std::filesystem::path& model_folder, const std::vector<ReadSample>& samples,
             std::size_t top) {
  Predictor predictor(read_model_folder(model_folder), top);
  Json predictions = Json::array();
  for (const ReadSample& sample : samples) {
    try {
      predictions.push_back(predictor.of(sample));
    } catch (const Error& e) {
      predictions.push_back({{"error", {{"code", to_string(e.code())}, {"message", e.what()}}}});
    }
  }
  return predictions;
}

}  // namespace moil::night
