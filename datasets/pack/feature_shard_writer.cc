#include <bit>
#include <cerrno>

#include "base/error.h"
#include "base/half_floats.h"
#include "base/json/json.h"
#include "datasets/pack/feature_shard.h"

namespace moil::data {

static_assert(std::endian::native == std::endian::little,
              "shards are written as memory holds them");

namespace {

// The header is written last, into room that was left for it; safetensors allows spaces after it.
constexpr std::uint64_t kHeaderRoom = 1024;

template <typename T>
std::uint64_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

}  // namespace

FeatureShardWriter::FeatureShardWriter(std::filesystem::path path, const PackBackbone& backbone)
    : path_(std::move(path)), backbone_(backbone), file_(std::fopen(path_.c_str(), "wbxe")) {
  if (!file_) throw system_error("cannot create " + path_.string(), errno);
  write_header("{}");
}

void FeatureShardWriter::write(const void* data, std::size_t bytes) {
  if (std::fwrite(data, 1, bytes, file_.get()) != bytes) {
    throw system_error("cannot write " + path_.string(), errno);
  }
}

void FeatureShardWriter::write_header(const std::string& json) {
  std::string padded = json;
  if (padded.size() > kHeaderRoom)
    throw Error(ErrorCode::kInternal, "the shard's header is too long");
  padded.resize(kHeaderRoom, ' ');
  write(&kHeaderRoom, sizeof kHeaderRoom);
  write(padded.data(), padded.size());
}

void FeatureShardWriter::add(std::span<const ClassId> labels, const Digest& digest,
                             std::span<const float> features) {
  if (features.size() != backbone_.floats()) {
    throw Error(ErrorCode::kInvalidArgument, "a feature map of " + std::to_string(features.size()) +
                                                 " values, expected " +
                                                 std::to_string(backbone_.floats()));
  }
  if (backbone_.type == FeatureType::kFloat32) {
    write(features.data(), features.size_bytes());
    feature_bytes_ += features.size_bytes();
  } else {
    narrow_.resize(features.size());
    narrow_to_bf16(features.data(), features.size(),
                   reinterpret_cast<std::uint8_t*>(narrow_.data()));
    write(narrow_.data(), bytes_of(narrow_));
    feature_bytes_ += bytes_of(narrow_);
  }
  labels_.insert(labels_.end(), labels.begin(), labels.end());
  label_offsets_.push_back(static_cast<std::int64_t>(labels_.size()));
  digests_.push_back(digest);
}

std::string FeatureShardWriter::header() const {
  nlohmann::json json;
  std::uint64_t at = 0;
  const auto tensor = [&](const char* name, const char* type, std::vector<std::uint64_t> shape,
                          std::uint64_t bytes) {
    json[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  };
  std::vector<std::uint64_t> shape = {count()};
  shape.insert(shape.end(), backbone_.shape.begin(), backbone_.shape.end());
  const std::uint64_t padding = (8 - feature_bytes_ % 8) % 8;
  tensor("features", backbone_.type == FeatureType::kFloat32 ? "F32" : "BF16", shape,
         feature_bytes_);
  if (padding != 0) tensor("padding", "U8", {padding}, padding);
  tensor("label_offsets", "I64", {label_offsets_.size()}, bytes_of(label_offsets_));
  tensor("labels", "I64", {labels_.size()}, bytes_of(labels_));
  tensor("digests", "U8", {count(), sizeof(Digest)}, bytes_of(digests_));
  return json.dump();
}

void FeatureShardWriter::close() {
  static_assert(sizeof(Digest) == 16);
  const std::uint64_t zeros = 0;
  write(&zeros, (8 - feature_bytes_ % 8) % 8);
  write(label_offsets_.data(), bytes_of(label_offsets_));
  write(labels_.data(), bytes_of(labels_));
  write(digests_.data(), bytes_of(digests_));
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0) {
    throw system_error("cannot write " + path_.string(), errno);
  }
  write_header(header());
  if (std::fclose(file_.release()) != 0)
    throw system_error("cannot write " + path_.string(), errno);
}

}  // namespace moil::data
