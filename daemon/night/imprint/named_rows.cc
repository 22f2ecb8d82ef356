#include "daemon/night/imprint/named_rows.h"

#include <map>

#include "base/index.h"
#include "engine/kernels/gemm/gemm.h"

namespace moil::night {

NamedRows::NamedRows(const Input& input, std::span<const std::uint32_t> said)
    : in_(input),
      said_(said),
      weights_(input.fresh * input.width),
      bias_(input.fresh),
      count_(input.fresh) {
  for (std::size_t i = 0; i < in_.samples.size(); ++i)
    if (in_.samples[i].gets_row(in_.known)) ++count_[class_of(i)];
  for (std::size_t i = 0; i < in_.samples.size(); ++i) {
    if (!in_.samples[i].gets_row(in_.known)) continue;
    const std::size_t k = class_of(i);
    const float part = 1 / static_cast<float>(count_[k]);
    const float* row = in_.known_weights.data() + said_[i] * in_.width;
    for (std::size_t j = 0; j < in_.width; ++j) weights_[k * in_.width + j] += part * row[j];
    bias_[k] += part * in_.known_bias[said_[i]];
  }
}

std::vector<std::optional<KnownName>> NamedRows::names() const {
  std::vector<std::map<std::uint32_t, std::size_t>> said(in_.fresh);
  for (std::size_t i = 0; i < in_.samples.size(); ++i)
    if (in_.samples[i].gets_row(in_.known)) ++said[class_of(i)][said_[i]];
  std::vector<std::optional<KnownName>> names(in_.fresh);
  for (std::size_t k = 0; k < in_.fresh; ++k)
    for (const auto& [known, count] : said[k])
      if (2 * count > count_[k]) names[k] = {known, count, count_[k]};
  return names;
}

std::vector<float> NamedRows::left_out_outputs() const {
  const std::size_t samples = in_.samples.size(), fresh = in_.fresh;
  std::vector<float> outputs(samples * fresh);
  sgemm(Transpose::kNo, Transpose::kYes, wide(samples), wide(fresh), wide(in_.width), 1,
        in_.features.data(), wide(in_.width), weights_.data(), wide(in_.width), 0, outputs.data(),
        wide(fresh));
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t k = 0; k < fresh; ++k) outputs[i * fresh + k] += bias_[k];
  for (std::size_t begin = 0, end = 0; begin < samples; begin = end) {
    while (end < samples && in_.samples[end].fold == in_.samples[begin].fold) ++end;
    leave_out(begin, end, outputs);
  }
  return outputs;
}

// One fold's samples: the means lose what the fold gave to them.
void NamedRows::leave_out(std::size_t begin, std::size_t end, std::vector<float>& outputs) const {
  std::map<std::size_t, std::map<std::uint32_t, std::size_t>> gone;  // names, by new class
  for (std::size_t i = begin; i < end; ++i)
    if (in_.samples[i].gets_row(in_.known)) ++gone[class_of(i)][said_[i]];
  for (const auto& [k, names] : gone) {
    std::size_t left = count_[k];
    for (const auto& [known, count] : names) left -= count;
    for (std::size_t i = begin; i < end && left > 0; ++i) {
      float& output = outputs[i * in_.fresh + k];
      double sum = static_cast<double>(count_[k]) * double{output};
      for (const auto& [known, count] : names)
        sum -= static_cast<double>(count) * known_output(known, i);
      output = static_cast<float>(sum / static_cast<double>(left));
    }
  }
}

double NamedRows::known_output(std::uint32_t known, std::size_t sample) const {
  const float* row = in_.known_weights.data() + known * in_.width;
  const float* x = in_.features.data() + sample * in_.width;
  double sum = double{in_.known_bias[known]};
  for (std::size_t j = 0; j < in_.width; ++j) sum += double{row[j]} * double{x[j]};
  return sum;
}

}  // namespace moil::night
