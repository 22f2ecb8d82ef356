#include "daemon/models/model_weights.h"

#include <algorithm>

#include "base/error.h"
#include "daemon/models/model_folder.h"
#include "engine/model/graph.h"

namespace moil::night {

void give_rows(NamedTensor& weight, std::int64_t known, std::int64_t rows) {
  std::int64_t& has = weight.dims.at(0);
  const auto width = static_cast<std::int64_t>(weight.data.size()) / std::max<std::int64_t>(1, has);
  has = std::max(has, rows);
  weight.data.resize(static_cast<std::size_t>(has * width));
  for (std::int64_t row = known; row < has; ++row)
    std::copy_n(weight.data.begin(), width, weight.data.begin() + row * width);
}

ModelWeights::ModelWeights(const std::filesystem::path& file)
    : file_(std::make_shared<const SafetensorsFile>(file)), shapes_(file_->shapes()) {}

NamedTensor ModelWeights::stored(const std::string& name) const {
  if (const auto it = changed_.find(name); it != changed_.end()) return it->second;
  if (!file_) throw Error(ErrorCode::kNotFound, "there is no weight \"" + name + "\"");
  return file_->read(name);
}

NamedTensor ModelWeights::read(const std::string& name) const {
  NamedTensor tensor = stored(name);
  const auto given = known_rows_.find(name);
  if (given != known_rows_.end()) give_rows(tensor, given->second, shapes_.at(name).at(0));
  return tensor;
}

WeightMap ModelWeights::of(const ModelDescription& part) const {
  return weights_by_name(part, [&](const std::string& name) { return read(name); });
}

void ModelWeights::change(const std::string& name, NamedTensor tensor) {
  shapes_[name] = tensor.dims;
  changed_[name] = std::move(tensor);
}

void ModelWeights::add_rows(const std::string& name, std::int64_t known, std::int64_t rows) {
  std::int64_t& has = shapes_.at(name).at(0);
  has = std::max(has, rows);
  known_rows_[name] = known;
}

std::size_t ModelWeights::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, dims] : shapes_) bytes += elements_of(name, dims) * sizeof(float);
  return bytes;
}

std::size_t ModelWeights::changed_bytes() const { return weight_bytes(changed_); }

WeightMap weights_by_name(const ModelDescription& part,
                          const std::function<NamedTensor(const std::string&)>& read) {
  WeightMap own;
  for (const Node& node : build_graph(part, 1).nodes) {
    for (const WeightSpec& spec : node.weights) {
      std::string name = weight_name(node, spec);
      NamedTensor tensor = read(name);
      own.emplace(std::move(name), std::move(tensor));
    }
  }
  return own;
}

}  // namespace moil::night
