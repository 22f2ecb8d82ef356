#include "daemon/models/part_network.h"

#include <algorithm>

#include "engine/model/preparation.h"
#include "engine/train/batch.h"

namespace moil::night {

KernelSelector PartNetwork::first_kernels() {
  KernelSelector::Options options;
  options.measure = false;
  return KernelSelector(options);
}

PartNetwork::PartNetwork(ModelBundle bundle)
    : labels_(std::move(bundle.labels)),
      task_(bundle.task),
      calibration_(bundle.calibration),
      form_{answers_probabilities(bundle.description)},
      kind_(bundle.kind),
      sample_(kind_->floats()),
      maker_(kind_->maker({})),
      kernels_(first_kernels()),
      network_(prepare_inference(bundle.description, bundle.weights), {.batch = 1, .plan = {}},
               kernels_) {
  network_.allocate();
  network_.move_in(bundle.weights);
}

void PartNetwork::each_part(const data::Digest& content, std::optional<std::uint32_t> count,
                            const Each& each) {
  for (std::uint32_t part = 0; !count || part < *count; ++part) {
    maker_->make(content, {0, part}, sample_.data());
    if (!count && maker_->parts()) count = maker_->parts()->count;
    if (!count || part < *count) each(part);
  }
}

std::span<const float> PartNetwork::output() {
  scatter(sample_.data(), 1, NetworkBatch(network_).inputs());
  network_.forward();
  return {network_.output(0), labels_.size()};
}

std::vector<float> PartNetwork::answer_of(std::span<const float> output) const {
  std::vector<float> answer(output.begin(), output.end());
  if (calibration_) temper(answer, form_, calibration_->temperature);
  task_->answer(answer, form_);
  return answer;
}

std::optional<bool> PartNetwork::is_sure(std::span<const float> answer) const {
  if (!calibration_) return std::nullopt;
  return double{*std::ranges::max_element(answer)} >= calibration_->not_sure_below;
}

}  // namespace moil::night
