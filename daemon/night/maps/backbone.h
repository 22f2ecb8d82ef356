// The frozen part of a network as it runs at night: from what a kind makes of a sample to a feature
// map.
//
// The backbone is an inference graph (batch norms folded, activations fused) planned for one fixed
// batch; fewer samples are filled up. A sample's feature map is the same bits in every batch and at
// every place in it (device/kernel_selector.h), so that cached and fresh ones can be mixed. Without
// a split the "feature map" is what the kind makes. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/models/model_weights.h"
#include "engine/device/assignment.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/device/processor.h"
#include "engine/model/freeze.h"
#include "engine/run/network.h"

namespace moil::night {

class Backbone {
 public:
  // freeze.split empty: the identity. Planned, not allocated. weights: asked for now, for the
  // fingerprint, and by each allocate(); between, they are not in memory.
  Backbone(const ModelDescription& model, WeightsOfPart weights, const Freeze& freeze,
           std::int64_t batch, KernelSelector& kernels);

  // Planned anew, with steps that another processor computes; null: the CPU computes all. Not while
  // it is allocated, nor of the identity.
  void place(const std::vector<std::shared_ptr<Processor>>& processors,
             const Assignment& assignment);
  // What is planned, as a processor would be chosen for it.
  [[nodiscard]] ModelDescription inference_model() const;

  bool is_identity() const { return network_ == nullptr; }
  std::int64_t batch() const { return batch_; }
  // All inputs of one sample, one after the other.
  std::size_t input_elements() const { return input_elements_; }
  std::size_t feature_elements() const { return feature_elements_; }  // of one sample
  // What changes a feature map besides the sample and its preprocessing: weights, graph and split,
  // and the arithmetic, which is told by what it makes: answer(). Kernels, threads, processors and
  // builds that make the same bits have the same fingerprint. Empty for the identity.
  std::string fingerprint();
  // Graph and weights alone make it: a pack of feature maps made elsewhere must agree with it.
  const std::string& network_fingerprint() const { return network_fingerprint_; }
  // Tells the maps that it makes of a fixed batch of random numbers, to the bit. Computed if it is
  // not known (allocates, and keeps the memory), which take_answer() may spare: what answer() was
  // when arithmetic() was the same, on this machine and by this build.
  const std::string& answer();
  void take_answer(std::string answer) { answer_ = std::move(answer); }
  // The network, who computes what of it, and the threads.
  std::string arithmetic() const;

  // One sample's, as it lies in memory (channels last).
  std::vector<std::int64_t> feature_shape() const;
  // The most that it takes, its weights while they are brought included.
  std::size_t peak_bytes() const;

  void allocate();
  void release();  // gives the memory back; allocate() again before the next run()

  // inputs: count x input_elements; features: count x feature_elements; any count.
  void run(const float* inputs, std::int64_t count, float* features);

 private:
  std::int64_t batch_;
  std::size_t input_elements_ = 0, feature_elements_ = 0;
  std::string answer_, network_fingerprint_;
  WeightsOfPart weights_;
  ModelDescription backbone_;
  KernelSelector& kernels_;
  std::unique_ptr<Network> network_;
  std::string elsewhere_;  // who computes what, besides the CPU
  bool allocated_ = false;
};

}  // namespace moil::night
