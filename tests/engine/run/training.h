// A model in training, all of it, with softmax cross-entropy and random batches, step by step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/engine/model/models.h"

namespace moil::test {

class Training {
 public:
  explicit Training(const ModelDescription& model, std::int64_t batch = 4, int states = 0,
                    bool clip = false, bool accumulate = false);

  Network& network() { return network_; }
  void fill(unsigned seed);
  // The loss of a batch with the weights as they are.
  double loss(unsigned seed);
  std::map<std::string, std::vector<float>> gradients(unsigned seed);

 private:
  KernelSelector kernels_;
  Network network_;
};

// A few steps of training: neither sharing memory nor any way of swapping changes a bit.
void expect_same_bits_of_other_plans(const ModelDescription& prepared, NetworkOptions options,
                                     const WeightMap& weights);

// Along its own gradient g, the loss rises by |g|: tensor by tensor, from central differences over
// `distance`. There are so many weights.
void expect_slopes(const ModelDescription& model, std::size_t weights, double distance,
                   double tolerance, double least);

}  // namespace moil::test
