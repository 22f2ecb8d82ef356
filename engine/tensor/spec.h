// What a tensor is, before it has memory (NNTrainer 2022 §3, 2024 §3).
//
// A spec says what it holds, when it must hold it (its execution orders, from its lifespan) and how
// it comes by its memory (its create mode). tensor/tensor_pool.h gathers the specs of a graph and
// tensor/planner.h gives them addresses.
#pragma once

#include <cstdint>
#include <string>

#include "engine/tensor/dims.h"

namespace moil {

// kPlain: row-major in the logical order. kChannelsLast: rank 4, logical [N, C, H, W], in memory
// [N, H, W, C]; every image-shaped tensor of the engine lies so, which makes a 1x1 convolution a
// product of matrices and lets per-channel loops be vectors.
enum class Layout : std::uint8_t { kPlain, kChannelsLast };

// In which steps of the layer that declares it a tensor is needed: a set.
enum class Lifespan : std::uint8_t {
  kNone = 0,
  kForward = 1,            // F
  kComputeGradient = 2,    // CG
  kComputeDerivative = 4,  // CD
  kMax = 8,                // M: always
};
constexpr Lifespan operator|(Lifespan a, Lifespan b) {
  return static_cast<Lifespan>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr Lifespan& operator|=(Lifespan& a, Lifespan b) { return a = a | b; }
constexpr bool has(Lifespan set, Lifespan step) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(step)) != 0;
}

enum class CreateMode : std::uint8_t {
  kCreate,        // C
  kModifyView,    // MV: in place, the data changes; merges if its first order >= the target's last
  kReadOnlyView,  // RV: the same data, another shape; always merges
  kExtend,        // E: the same tensor again (weights of an unrolled layer); always merges
};

enum class TensorKind : std::uint8_t {
  kInput,
  kWeight,
  kStatistic,
  kGradient,
  kOptimizerState,
  kActivation,
  kDerivative,
  kSaved,
  kWorkspace,
};
const char* to_string(TensorKind kind);

enum class ElementType : std::uint8_t { kFloat32, kBfloat16, kInt8, kInt32 };
const char* to_string(ElementType type);  // "float32"
constexpr std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kBfloat16:
      return 2;
    case ElementType::kInt8:
      return 1;
    case ElementType::kFloat32:
    case ElementType::kInt32:
      break;
  }
  return 4;
}

// kRows: some rows of a larger tensor, at most dims[0], each with its number (row_gradient.h).
enum class TensorForm : std::uint8_t { kDense, kRows };

struct TensorInfo {
  Dims dims;
  Layout layout = Layout::kPlain;
  ElementType type = ElementType::kFloat32;
  TensorForm form = TensorForm::kDense;
  std::size_t bytes() const;
};

using TensorId = std::int32_t;
inline constexpr TensorId kNoTensor = -1;

struct TensorSpec {
  std::string name;
  TensorInfo info;
  TensorKind kind = TensorKind::kActivation;
  CreateMode mode = CreateMode::kCreate;
  TensorId target = kNoTensor;  // what MV, RV and E refer to
};

}  // namespace moil
