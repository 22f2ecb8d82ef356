#include "daemon/night/prediction.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "base/error.h"
#include "daemon/night/model_folder.h"
#include "daemon/night/part_answers.h"
#include "engine/device/kernel_selector.h"
#include "engine/graph/ending.h"
#include "engine/graph/network.h"
#include "engine/graph/preparation.h"
#include "engine/train/batch.h"

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
        task_(bundle.task),
        calibration_(bundle.calibration),
        form_{answers_probabilities(bundle.description)},
        top_(std::min(top, labels_.size())),
        kind_(bundle.kind),
        answers_(kind_->part_answer(), *task_, form_),
        sample_(kind_->floats()),
        maker_(kind_->maker({})),
        kernels_(first_kernels()),
        network_(prepare_inference(bundle.description, bundle.weights), {.batch = 1, .plan = {}},
                 kernels_) {
    network_.allocate();
    network_.move_in(bundle.weights);
  }

  Json of(const ReadSample& read) {
    const std::span<const float> output = output_of(read());
    std::vector<float> answer(output.begin(), output.end());
    if (calibration_) temper(answer, form_, calibration_->temperature);
    task_->answer(answer, form_);
    if (!task_->outputs_are_labels()) return {{"values", values(answer)}};
    Json said = Json::array();
    for (const std::uint32_t label : task_->said(output, form_)) said.push_back(labels_[label]);
    Json found = {{"top", most_likely(answer)}, {"labels", std::move(said)}};
    if (calibration_)
      found["not_sure"] = double{*std::ranges::max_element(answer)} < calibration_->not_sure_below;
    return found;
  }

 private:
  std::span<const float> output_of(const std::vector<std::uint8_t>& bytes) {
    const std::uint32_t parts = kind_->has_parts() ? kind_->parts(bytes, kName) : 1;
    maker_->load(bytes, kName);
    for (std::uint32_t part = 0; part < parts; ++part) {
      maker_->make({}, {0, part}, sample_.data());
      scatter(sample_.data(), 1, NetworkBatch(network_).inputs());
      network_.forward();
      answers_.add({network_.output(0), labels_.size()});
    }
    return answers_.take();
  }

  Json values(const std::vector<float>& numbers) const {
    Json found = Json::array();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      found.push_back({{"name", labels_[i]}, {"value", numbers[i]}});
    return found;
  }

  Json most_likely(const std::vector<float>& chances) const {
    std::vector<std::size_t> order(chances.size());
    std::iota(order.begin(), order.end(), 0U);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top_), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return chances[a] != chances[b] ? chances[a] > chances[b] : a < b;
                      });
    Json found = Json::array();
    for (std::size_t i = 0; i < top_; ++i)
      found.push_back({{"label", labels_[order[i]]}, {"probability", chances[order[i]]}});
    return found;
  }

  std::vector<std::string> labels_;
  TaskPtr task_;
  std::optional<Calibration> calibration_;
  OutputForm form_;
  std::size_t top_;
  static constexpr std::string_view kName = "the sample";

  data::KindPtr kind_;
  PartAnswers answers_;
  std::vector<float> sample_;
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
