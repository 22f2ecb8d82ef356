// lion: a step of one size for every weight, in the direction of a momentum (Chen et al. 2023).
#include <array>

#include "engine/custom.h"
#include "tests/engine/custom/example.h"

namespace example {
namespace {

class Lion final : public moil::Optimizer {
 public:
  Lion(double beta1, double beta2, double decay) : beta1_(beta1), beta2_(beta2), decay_(decay) {}

  std::span<const std::string_view> state_tensors() const override { return kState; }

  void apply(const moil::OptimizerStep& step) const override {
    const auto rate = static_cast<float>(step.learning_rate);
    const auto scale = static_cast<float>(step.gradient_scale);
    const auto shrink = static_cast<float>(step.decays ? 1 - step.learning_rate * decay_ : 1);
    const auto b1 = static_cast<float>(beta1_), b2 = static_cast<float>(beta2_);
    float* momentum = step.state[0];
    moil::parallel_for(step.elements, 4096, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float g = scale * step.gradient[i];
        const float direction = b1 * momentum[i] + (1 - b1) * g;
        const float sign = direction > 0 ? 1.0F : direction < 0 ? -1.0F : 0.0F;
        step.weight[i] = shrink * step.weight[i] - rate * sign;
        momentum[i] = b2 * momentum[i] + (1 - b2) * g;
      }
    });
  }

 private:
  static constexpr std::array<std::string_view, 1> kState = {"momentum"};
  const double beta1_, beta2_, decay_;
};

double share(moil::PropertyReader& reader, const std::string& name, double fallback) {
  const double value = reader.number(name, fallback);
  if (value >= 0 && value < 1) return value;
  throw moil::Error(moil::ErrorCode::kInvalidArgument,
                    "lion: " + name + " must be at least 0 and below 1");
}

std::unique_ptr<moil::Optimizer> make_lion(const moil::OptimizerConfig& config) {
  moil::PropertyReader reader("lion", config.parameters, "optimizer");
  const double beta1 = share(reader, "beta1", 0.9), beta2 = share(reader, "beta2", 0.99);
  reader.done();
  return std::make_unique<Lion>(beta1, beta2, config.weight_decay);
}

}  // namespace

void register_lion() { moil::register_optimizer("lion", make_lion); }

}  // namespace example
