// A batch of samples: spans of named tensors.
//
// A network takes one or more inputs, and training gives it a target. Each is a tensor of its own:
// its samples lie one after the other, in the network's memory order (channels-last). An input of
// whole numbers holds their bits; whoever makes samples makes floats of them all, and scatter() or
// to_numbers() turns those.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor/spec.h"

namespace moil {

class Network;
struct Graph;

struct BatchTensor {
  std::string_view name;    // of the network's input that it is for
  std::size_t elements;     // of one sample
  std::span<float> values;  // of all samples
  ElementType type = ElementType::kFloat32;

  float* row(std::size_t sample) const { return values.data() + sample * elements; }
};

struct Batch {
  std::span<const BatchTensor> inputs;   // in the model's order
  std::span<const BatchTensor> targets;  // in the order of the model's outputs
};

// The elements of one sample, of all tensors together.
[[nodiscard]] std::size_t elements_of_sample(std::span<const BatchTensor> tensors);
// rows: samples, each with what every tensor takes of it, one after the other.
void scatter(const float* rows, std::size_t samples, std::span<const BatchTensor> tensors);
// Turns the floats of a tensor's first samples, each a whole number, into what its type holds; of
// whole numbers the rest becomes 0, which every table has a row for. Floats stay as they are.
void to_numbers(const BatchTensor& tensor, std::size_t samples);

// The name and size of each tensor of a batch.
struct BatchShape {
  struct Tensor {
    std::string name;
    std::size_t elements = 0;  // of one sample
    ElementType type = ElementType::kFloat32;
  };
  std::vector<Tensor> inputs, targets;

  std::size_t bytes_of_sample() const;
};
// A network as training has it takes this (model/ending.h): behind the model's inputs, its target.
[[nodiscard]] BatchShape training_batch(const Graph& training);

// A batch and its memory.
class BatchBuffer {
 public:
  BatchBuffer(BatchShape shape, std::size_t samples);
  BatchBuffer(const BatchBuffer&) = delete;
  BatchBuffer& operator=(const BatchBuffer&) = delete;

  const Batch& batch() const { return batch_; }
  std::size_t bytes() const { return values_.size() * sizeof(float); }
  // Into the inputs of a network of training_batch()'s shape and of so many samples a batch.
  void copy_to(Network& training) const;

 private:
  BatchShape shape_;
  std::vector<float> values_;
  std::vector<BatchTensor> inputs_, targets_;
  Batch batch_;
};

// A batch that lies in the network's own inputs: all of them are the model's.
class NetworkBatch {
 public:
  // `network` is allocated and outlives it.
  explicit NetworkBatch(Network& network);
  // The network is as training has it.
  NetworkBatch(Network& network, const BatchShape& shape);

  const Batch& batch() const { return batch_; }
  std::span<const BatchTensor> inputs() const { return inputs_; }

 private:
  BatchTensor tensor(Network& network, std::size_t input) const;

  std::vector<BatchTensor> inputs_, targets_;
  Batch batch_;
};

}  // namespace moil
