#include "datasets/pack/feature_shard.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = 1 << 20;

// One tensor of a safetensors header.
struct Entry {
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // in the file

  std::uint64_t bytes() const { return end - begin; }
};

class SafetensorsHeader {
 public:
  explicit SafetensorsHeader(const InputFile& file) : file_(file) {
    const std::string where = file.path().string();
    if (file.size() < 8) throw Error(ErrorCode::kBadData, where + ": is cut off");
    std::uint64_t length = 0;
    std::memcpy(&length, file.read(0, 8).data(), 8);
    if (length > std::min(kMaxHeaderBytes, file.size() - 8)) {
      throw Error(ErrorCode::kBadData,
                  where + ": a header of " + std::to_string(length) + " bytes");
    }
    data_at_ = 8 + length;
    const auto text = file.read(8, length);
    json_ = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (!json_.is_object())
      throw Error(ErrorCode::kBadData, where + ": its header is no JSON object");
  }

  // The tensor, which has this type and `bytes` bytes within the file.
  Entry tensor(const char* name, const char* dtype, std::uint64_t bytes) const {
    JsonFields root(json_, file_.path().string(), ErrorCode::kBadData);
    JsonFields fields(root.at(name), file_.path().string() + ": " + name, ErrorCode::kBadData);
    const auto offsets = fields.get<std::vector<std::uint64_t>>("data_offsets");
    if (fields.get<std::string>("dtype") != dtype)
      fields.fail("expected the dtype " + std::string(dtype));
    const std::uint64_t room = file_.size() - data_at_;
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > room) {
      fields.fail("'data_offsets' do not lie within the file");
    }
    Entry entry{dtype, fields.get<std::vector<std::uint64_t>>("shape"), data_at_ + offsets[0],
                data_at_ + offsets[1]};
    if (bytes != 0 && entry.bytes() != bytes) {
      fields.fail("has " + std::to_string(entry.bytes()) + " bytes, expected " +
                  std::to_string(bytes));
    }
    return entry;
  }

 private:
  const InputFile& file_;
  nlohmann::json json_;
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
  const SafetensorsHeader header(file_);
  const auto features = header.tensor("features", type_ == FeatureType::kFloat32 ? "F32" : "BF16",
                                      samples * floats_ * width_of(type_));
  std::vector<std::uint64_t> shape = {samples};
  shape.insert(shape.end(), backbone.shape.begin(), backbone.shape.end());
  if (features.shape != shape) fail("the features' shape is not that of pack.json");
  features_at_ = features.begin;
  const auto offsets = header.tensor("label_offsets", "I64", (samples + 1) * 8);
  const auto labels = header.tensor("labels", "I64", 0);
  const auto digests = header.tensor("digests", "U8", samples * sizeof(Digest));
  label_offsets_ = read_values<std::int64_t>(file_, offsets.begin, samples + 1);
  labels_ = read_values<std::int64_t>(file_, labels.begin, labels.bytes() / 8);
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
    out[k] = from_bfloat16(value);
  }
}

}  // namespace moil::data
