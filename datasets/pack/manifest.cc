#include "datasets/pack/manifest.h"

#include <set>

#include "base/error.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "datasets/readers/input_file.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace fs = std::filesystem;
using nlohmann::json;

NLOHMANN_JSON_SERIALIZE_ENUM(PackKind,
                             {{PackKind::kSamples, "images"}, {PackKind::kFeatures, "features"}})
NLOHMANN_JSON_SERIALIZE_ENUM(PackTargets,
                             {{PackTargets::kLabels, "labels"}, {PackTargets::kModel, "model"}})
NLOHMANN_JSON_SERIALIZE_ENUM(FeatureType,
                             {{FeatureType::kFloat32, "f32"}, {FeatureType::kBfloat16, "bf16"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Split, {{Split::kTrain, "train"}, {Split::kValidation, "val"}})

namespace {

constexpr const char* kFormat = "moil-global-pack";
constexpr std::int64_t kMaxCount = std::int64_t{1} << 48;
constexpr std::uint64_t kMaxManifestBytes = 64 << 20;

std::vector<std::string> read_classes(JsonFields& fields) {
  auto classes = fields.get<std::vector<std::string>>("classes");
  const std::set<std::string> different(classes.begin(), classes.end());
  if (classes.empty() || different.size() != classes.size() || different.contains("")) {
    fields.fail("'classes' is empty, or holds an empty name or one name twice");
  }
  return classes;
}

PackBackbone read_backbone(const json& value, const std::string& where) {
  JsonFields fields(value, where + ": backbone", ErrorCode::kBadData);
  PackBackbone backbone;
  backbone.fingerprint = fields.get<std::string>("fingerprint");
  backbone.split_point = fields.get<std::string>("split_point");
  backbone.shape = fields.get<std::vector<std::int64_t>>("shape");
  backbone.type = fields.name<FeatureType>("dtype");
  fields.finish();
  std::int64_t floats = 1;
  for (const std::int64_t extent : backbone.shape) {
    if (extent < 1 || extent > kMaxCount / floats) fields.fail("'shape' is out of range");
    floats *= extent;
  }
  if (backbone.shape.empty()) fields.fail("'shape' is empty");
  return backbone;
}

PackShard read_shard(const json& value, const std::string& where) {
  JsonFields fields(value, where, ErrorCode::kBadData);
  PackShard shard;
  shard.file = fields.get<std::string>("file");
  if (shard.file.empty() || shard.file.starts_with('.') ||
      shard.file.find('/') != std::string::npos) {
    fields.fail("'file' is '" + shard.file + "', expected a plain file name");
  }
  shard.split = fields.name<Split>("split");
  shard.samples = static_cast<std::uint64_t>(fields.whole("samples", 1, kMaxCount));
  shard.bytes = static_cast<std::uint64_t>(fields.whole("bytes", 1, kMaxCount));
  try {
    shard.checksum = Digest::from_hex(fields.get<std::string>("xxh3_128"));
  } catch (const Error& error) {
    fields.fail(std::string("'xxh3_128': ") + error.what());
  }
  if (fields.has("described")) shard.described = fields.get<bool>("described");
  fields.finish();
  return shard;
}

void check_counts(const json& value, const PackManifest& manifest, const std::string& where) {
  JsonFields fields(value, where + ": samples", ErrorCode::kBadData);
  for (const Split split : {Split::kTrain, Split::kValidation}) {
    const std::string name(to_string(split));
    const std::int64_t stated = fields.whole(name.c_str(), 0, kMaxCount);
    if (static_cast<std::uint64_t>(stated) != manifest.samples(split)) {
      fields.fail("'" + name + "' is " + std::to_string(stated) + ", the shards hold " +
                  std::to_string(manifest.samples(split)));
    }
  }
  fields.finish();
}

KindPtr read_sample_kind(const json& value, const std::string& where) {
  try {
    return kind_from_json(value);
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadData, where + ": " + error.what());
  }
}

void check_version(JsonFields& fields) {
  if (fields.get<std::string>("format") != kFormat)
    fields.fail("'format' is not " + std::string(kFormat));
  const std::int64_t version = fields.whole("version", 1, 1'000'000);
  if (version <= kPackVersion) return;
  throw Error(ErrorCode::kUnimplemented, "the pack is of version " + std::to_string(version) +
                                             ", this build reads " + std::to_string(kPackVersion));
}

PackManifest parse(const json& root, const std::string& where) {
  JsonFields fields(root, where, ErrorCode::kBadData);
  check_version(fields);
  PackManifest manifest;
  manifest.kind = fields.name<PackKind>("kind");
  manifest.classes = read_classes(fields);
  manifest.sample_kind = read_sample_kind(fields.at("preprocessing"), where);
  if (manifest.kind == PackKind::kFeatures) {
    manifest.backbone = read_backbone(fields.at("backbone"), where);
  } else if (fields.has("label_separator")) {
    const auto separator = fields.get<std::string>("label_separator");
    if (separator.size() != 1) fields.fail("'label_separator' is one character");
    manifest.label_separator = separator[0];
  }
  if (fields.has("targets")) manifest.targets = fields.name<PackTargets>("targets");
  if (manifest.targets == PackTargets::kModel)
    manifest.reached = static_cast<std::uint64_t>(
        fields.whole("reached", 0, static_cast<std::int64_t>(manifest.classes.size())));
  const json& shards = fields.at("shards");
  if (!shards.is_array()) fields.fail("'shards' is no array");
  for (std::size_t i = 0; i < shards.size(); ++i) {
    manifest.shards.push_back(read_shard(shards[i], where + ": shards[" + std::to_string(i) + "]"));
  }
  check_counts(fields.at("samples"), manifest, where);
  fields.finish();
  return manifest;
}

void check_files(const fs::path& folder, const PackManifest& manifest) {
  for (const auto& shard : manifest.shards) {
    const InputFile file(folder / shard.file);
    if (file.size() == shard.bytes) continue;
    throw Error(ErrorCode::kBadData, file.path().string() + ": has " + std::to_string(file.size()) +
                                         " bytes, pack.json says " + std::to_string(shard.bytes));
  }
}

}  // namespace

std::size_t PackBackbone::floats() const {
  std::size_t product = 1;
  for (const std::int64_t extent : shape) product *= static_cast<std::size_t>(extent);
  return product;
}

std::uint64_t PackManifest::samples(Split split) const {
  std::uint64_t total = 0;
  for (const auto& shard : shards) total += shard.split == split ? shard.samples : 0;
  return total;
}

PackManifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / "pack.json";
  const std::string text = read_text(path, kMaxManifestBytes);
  json root;
  try {
    root = parsed_json(text);
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadData, path.string() + ": " + error.what());
  }
  PackManifest manifest = parse(root, path.string());
  check_files(folder, manifest);
  return manifest;
}

void write_manifest(const fs::path& folder, const PackManifest& manifest) {
  json root = {
      {"format", kFormat},
      {"version", kPackVersion},
      {"kind", manifest.kind},
      {"classes", manifest.classes},
      {"preprocessing", manifest.sample_kind->to_json()},
      {"samples",
       {{"train", manifest.samples(Split::kTrain)}, {"val", manifest.samples(Split::kValidation)}}},
      {"shards", json::array()}};
  if (manifest.label_separator != 0)
    root["label_separator"] = std::string(1, manifest.label_separator);
  if (manifest.kind == PackKind::kFeatures) {
    root["backbone"] = {{"fingerprint", manifest.backbone.fingerprint},
                        {"split_point", manifest.backbone.split_point},
                        {"shape", manifest.backbone.shape},
                        {"dtype", manifest.backbone.type}};
  }
  if (manifest.targets == PackTargets::kModel) {
    root["targets"] = manifest.targets;
    root["reached"] = manifest.reached;
  }
  for (const auto& shard : manifest.shards) {
    root["shards"].push_back({{"file", shard.file},
                              {"split", shard.split},
                              {"samples", shard.samples},
                              {"bytes", shard.bytes},
                              {"xxh3_128", shard.checksum.hex()}});
    if (shard.described) root["shards"].back()["described"] = true;
  }
  write_file_atomic(folder / "pack.json", root.dump(2) + "\n");
}

Digest checksum_of(const fs::path& path) {
  const InputFile file(path);
  Hasher hasher;
  std::vector<std::uint8_t> chunk(1 << 20);
  for (std::uint64_t at = 0; at < file.size(); at += chunk.size()) {
    chunk.resize(std::min<std::uint64_t>(chunk.size(), file.size() - at));
    file.read(at, chunk);
    hasher.add(chunk);
  }
  return {hasher.hash128()};
}

void verify_shard(const fs::path& folder, const PackShard& shard) {
  const fs::path path = folder / shard.file;
  if (checksum_of(path) == shard.checksum) return;
  throw Error(ErrorCode::kBadData, path.string() + ": its checksum is not that of pack.json");
}

}  // namespace moil::data
