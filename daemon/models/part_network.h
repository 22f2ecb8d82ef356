// A model that looks at the parts of one sample after the other. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/models/model_folder.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/model/ending.h"
#include "engine/run/network.h"

namespace moil::night {

class PartNetwork {
 public:
  // Of a task whose outputs have names.
  explicit PartNetwork(ModelBundle bundle);

  const std::vector<std::string>& labels() const { return labels_; }
  const Task& task() const { return *task_; }
  const data::Kind& kind() const { return *kind_; }
  OutputForm form() const { return form_; }
  data::SampleMaker& maker() const { return *maker_; }

  // Makes what the network takes of each part of what the maker holds, in their order. count: of
  // them; nothing if the maker tells where they end.
  using Each = std::function<void(std::uint32_t part)>;
  void each_part(const data::Digest& content, std::optional<std::uint32_t> count, const Each& each);
  // What the network says of what was made last; valid until the next part.
  std::span<const float> output();

  // An output as it is told: calibrated probabilities, or numbers.
  [[nodiscard]] std::vector<float> answer_of(std::span<const float> output) const;
  // Nothing if the model does not know.
  [[nodiscard]] std::optional<bool> is_sure(std::span<const float> answer) const;

  // Measuring kernels would take longer than the few samples that are asked about.
  static KernelSelector first_kernels();

 private:
  std::vector<std::string> labels_;
  TaskPtr task_;
  std::optional<Calibration> calibration_;
  OutputForm form_;
  data::KindPtr kind_;
  std::vector<float> sample_;
  std::unique_ptr<data::SampleMaker> maker_;
  KernelSelector kernels_;
  Network network_;
};

}  // namespace moil::night
