#include "datasets/pack/feature_shard.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/half_floats.h"
#include "base/safetensors/header.h"

namespace moil::data {
namespace {

// A shard's is no longer: it has four tensors.
constexpr std::uint64_t kMaxShardHeaderBytes = 1 << 20;

class ShardHeader {
 public:
  explicit ShardHeader(const InputFile& file) : where_(file.path().string()) {
    if (file.size() < 8) throw Error(ErrorCode::kBadData, where_ + ": is cut off");
    std::uint64_t length = 0;
    std::memcpy(&length, file.read(0, 8).data(), 8);
    if (length > std::min(kMaxShardHeaderBytes, file.size() - 8)) {
      throw Error(ErrorCode::kBadData,
                  where_ + ": a header of " + std::to_string(length) + " bytes");
    }
    data_at_ = 8 + length;
    const auto text = file.read(8, length);
    entries_ = parse_safetensors_header({reinterpret_cast<const char*>(text.data()), text.size()},
                                        file.size() - data_at_, where_, TensorsOf::kData)
                   .entries;
  }

  // The tensor, which has this type and so many elements, with its place in the file.
  TensorEntry tensor(const std::string& name, FileDType dtype,
                     std::optional<std::uint64_t> elements = {}) const {
    const auto found = std::ranges::find(entries_, name, &TensorEntry::name);
    if (found == entries_.end()) fail(name, "is missing");
    if (found->dtype != dtype) fail(name, "has another element type than a shard's");
    if (elements && found->elements() != *elements)
      fail(name, "has " + std::to_string(found->elements()) + " elements, expected " +
                     std::to_string(*elements));
    TensorEntry entry = *found;
    entry.begin += data_at_;
    entry.end += data_at_;
    return entry;
  }

 private:
  [[noreturn]] void fail(const std::string& tensor, const std::string& what) const {
    throw Error(ErrorCode::kBadData, where_ + ": tensor \"" + tensor + "\" " + what);
  }

  const std::string where_;
  std::vector<TensorEntry> entries_;
  std::uint64_t data_at_ = 0;
};

std::uint64_t width_of(FeatureType type) { return type == FeatureType::kFloat32 ? 4 : 2; }

template <typename T>
std::vector<T> read_values(const InputFile& file, std::uint64_t at, std::uint64_t count) {
  std::vector<T> values(count);
  file.read(at, std::span(reinterpret_cast<std::uint8_t*>(values.data()), count * sizeof(T)));
  return values;
}

}  // namespace

FeatureShard::FeatureShard(const std::filesystem::path& path, const PackBackbone& backbone,
                           std::uint64_t samples, std::size_t classes)
    : file_(path), type_(backbone.type), floats_(backbone.floats()) {
  // Sizes are bounded by the file's before they are multiplied.
  if (samples > file_.size() || floats_ > file_.size() / width_of(type_) / samples) {
    fail("is too small for " + std::to_string(samples) + " samples");
  }
  const ShardHeader header(file_);
  const TensorEntry features =
      header.tensor("features", type_ == FeatureType::kFloat32 ? FileDType::kF32 : FileDType::kBF16,
                    samples * floats_);
  std::vector<std::int64_t> shape = {static_cast<std::int64_t>(samples)};
  shape.insert(shape.end(), backbone.shape.begin(), backbone.shape.end());
  if (features.dims != shape) fail("the features' shape is not that of pack.json");
  features_at_ = features.begin;
  const TensorEntry offsets = header.tensor("label_offsets", FileDType::kI64, samples + 1);
  const TensorEntry labels = header.tensor("labels", FileDType::kI64);
  const TensorEntry digests = header.tensor("digests", FileDType::kU8, samples * sizeof(Digest));
  label_offsets_ = read_values<std::int64_t>(file_, offsets.begin, samples + 1);
  labels_ = read_values<std::int64_t>(file_, labels.begin, labels.elements());
  digests_ = read_values<Digest>(file_, digests.begin, samples);
  check_labels(classes);
}

void FeatureShard::fail(const std::string& what) const {
  throw Error(ErrorCode::kBadData, file_.path().string() + ": " + what);
}

void FeatureShard::check_labels(std::size_t classes) const {
  const bool ordered = label_offsets_.front() == 0 && std::ranges::is_sorted(label_offsets_) &&
                       label_offsets_.back() == static_cast<std::int64_t>(labels_.size());
  if (!ordered) fail("'label_offsets' do not fit 'labels'");
  const auto is_class = [&](std::int64_t label) {
    return label >= 0 && static_cast<std::uint64_t>(label) < classes;
  };
  if (!std::ranges::all_of(labels_, is_class)) fail("a label is no class of the pack");
}

std::vector<ClassId> FeatureShard::labels(std::size_t i) const {
  std::vector<ClassId> result;
  for (auto at = label_offsets_[i]; at < label_offsets_[i + 1]; ++at) {
    result.push_back(static_cast<ClassId>(labels_[static_cast<std::size_t>(at)]));
  }
  return result;
}

void FeatureShard::read(std::size_t i, float* out) const {
  const std::uint64_t bytes = floats_ * width_of(type_);
  auto* raw = reinterpret_cast<std::uint8_t*>(out);
  file_.read(features_at_ + i * bytes, std::span(raw, bytes));
  if (type_ == FeatureType::kFloat32) return;
  for (std::size_t k = floats_; k-- > 0;) {  // widened in place, from the end
    std::uint16_t value = 0;
    std::memcpy(&value, raw + 2 * k, sizeof value);
    out[k] = from_bf16(value);
  }
}

}  // namespace moil::data
