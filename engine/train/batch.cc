#include "engine/train/batch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/run/network.h"

namespace moil {
namespace {

BatchShape::Tensor tensor_of(const Graph& graph, int value) {
  const Value& v = graph.values[static_cast<std::size_t>(value)];
  return {v.name, static_cast<std::size_t>(v.info.dims.elements_per_sample()), v.info.type};
}

std::size_t elements_of(const std::vector<BatchShape::Tensor>& tensors) {
  std::size_t elements = 0;
  for (const BatchShape::Tensor& tensor : tensors) elements += tensor.elements;
  return elements;
}

}  // namespace

std::size_t elements_of_sample(std::span<const BatchTensor> tensors) {
  std::size_t elements = 0;
  for (const BatchTensor& tensor : tensors) elements += tensor.elements;
  return elements;
}

void scatter(const float* rows, std::size_t samples, std::span<const BatchTensor> tensors) {
  for (std::size_t s = 0; s < samples; ++s) {
    for (const BatchTensor& tensor : tensors) {
      std::copy_n(rows, tensor.elements, tensor.row(s));
      rows += tensor.elements;
    }
  }
  for (const BatchTensor& tensor : tensors) to_numbers(tensor, samples);
}

void to_numbers(const BatchTensor& tensor, std::size_t samples) {
  if (tensor.type != ElementType::kInt32) return;
  for (float& value : tensor.values.first(samples * tensor.elements))
    value = std::bit_cast<float>(static_cast<std::int32_t>(value));
  std::ranges::fill(tensor.values.subspan(samples * tensor.elements), 0.0F);
}

std::size_t BatchShape::bytes_of_sample() const {
  return (elements_of(inputs) + elements_of(targets)) * sizeof(float);
}

BatchShape training_batch(const Graph& training) {
  BatchShape shape;
  const std::size_t target = training.inputs.size() - 1;
  for (std::size_t i = 0; i < target; ++i)
    shape.inputs.push_back(tensor_of(training, training.inputs[i]));
  shape.targets.push_back(tensor_of(training, training.inputs[target]));
  return shape;
}

BatchBuffer::BatchBuffer(BatchShape shape, std::size_t samples) : shape_(std::move(shape)) {
  values_.resize(shape_.bytes_of_sample() / sizeof(float) * samples);
  std::span<float> rest(values_);
  const auto take = [&](std::size_t elements) {
    const std::span<float> taken = rest.first(elements * samples);
    rest = rest.subspan(taken.size());
    return taken;
  };
  const auto add = [&](const BatchShape::Tensor& t, std::vector<BatchTensor>& to) {
    to.push_back({t.name, t.elements, take(t.elements), t.type});
  };
  for (const auto& t : shape_.inputs) add(t, inputs_);
  for (const auto& t : shape_.targets) add(t, targets_);
  batch_ = {inputs_, targets_};
}

void BatchBuffer::copy_to(Network& training) const {
  std::size_t input = 0;
  const auto copy = [&](std::span<const float> values) {
    std::memcpy(training.input(input++), values.data(), values.size_bytes());
  };
  for (const BatchTensor& tensor : inputs_) copy(tensor.values);
  for (const BatchTensor& tensor : targets_) copy(tensor.values);
}

NetworkBatch::NetworkBatch(Network& network) {
  for (std::size_t i = 0; i < network.inputs(); ++i) inputs_.push_back(tensor(network, i));
  batch_ = {inputs_, targets_};
}

NetworkBatch::NetworkBatch(Network& network, const BatchShape& shape) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < shape.inputs.size(); ++i) inputs_.push_back(tensor(network, next++));
  for (std::size_t i = 0; i < shape.targets.size(); ++i)
    targets_.push_back(tensor(network, next++));
  batch_ = {inputs_, targets_};
}

BatchTensor NetworkBatch::tensor(Network& network, std::size_t input) const {
  const Graph& graph = network.graph();
  const TensorInfo& info = network.input_info(input);
  const Dims& dims = info.dims;
  return {graph.values[static_cast<std::size_t>(graph.inputs[input])].name,
          static_cast<std::size_t>(dims.elements_per_sample()),
          {network.input(input), static_cast<std::size_t>(dims.elements())},
          info.type};
}

}  // namespace moil
