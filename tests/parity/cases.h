// What generate_cases.py wrote: PyTorch's answers, and how close ours must be.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "engine/layers/properties.h"
#include "engine/run/network.h"
#include "engine/tensor/dims.h"

namespace moil::test {

struct Tensor {
  Dims dims;
  std::vector<float> values;  // in PyTorch's order
};

class Cases {
 public:
  // Null if the file is not there (PyTorch is not installed). Read once.
  static const Cases* get();

  std::vector<const Json*> of_kind(const std::string& kind) const;
  Tensor tensor(const Json& place) const;

 private:
  Json cases_;
  std::vector<float> floats_;
};

Properties properties_of(const Json& object);

// PyTorch's order to ours in memory: images [N,C,H,W] to [N,H,W,C], everything else as it is.
std::vector<float> in_memory_order(const Tensor& tensor);

// What the model computes for the image, prepared for inference. The kernels that measuring may
// choose are compared by tests of their own.
struct Computed {
  TensorInfo info;
  std::vector<float> values;  // as they lie in memory
};
Computed computed(const ModelDescription& model, WeightMap weights, const NamedTensor& image);

// The largest difference must be within 1e-4 of the largest expected value, and every difference
// within 1e-4 of its own expected value plus 1e-5 of the largest.
void expect_close(const std::vector<float>& actual, const std::vector<float>& expected,
                  const std::string& what);

}  // namespace moil::test

// In a test: skips it if there are no cases.
#define MOIL_NEEDS_PARITY_CASES()                                                    \
  if (!moil::test::Cases::get())                                                     \
  GTEST_SKIP() << "no cases: PyTorch (python3-torch) is not installed, or the test " \
                  "parity_cases has not run (ctest runs it first)"
