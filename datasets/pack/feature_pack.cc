#include "datasets/pack/feature_pack.h"

#include <algorithm>

#include "base/error.h"
#include "datasets/samples/sample_table.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

PackManifest describe(std::vector<std::string> classes, KindPtr kind,
                      const PackBackbone& backbone) {
  PackManifest manifest;
  manifest.kind = PackKind::kFeatures;
  manifest.classes = std::move(classes);
  manifest.sample_kind = std::move(kind);
  manifest.backbone = backbone;
  return manifest;
}

class FeaturePackReader : public TableDataset<FeaturePack> {
 public:
  explicit FeaturePackReader(const fs::path& folder) : manifest_(read_manifest(folder)) {
    if (manifest_.kind != PackKind::kFeatures) {
      throw Error(ErrorCode::kFailedPrecondition,
                  folder.string() + ": a pack of images, expected one of feature maps");
    }
    table_ = SampleTable(manifest_.classes);
    for (const auto& shard : manifest_.shards) {
      verify_shard(folder, shard);
      shards_.push_back(std::make_unique<FeatureShard>(folder / shard.file, manifest_.backbone,
                                                       shard.samples, manifest_.classes.size()));
      for (std::size_t i = 0; i < shards_.back()->size(); ++i) {
        table_.add(shards_.back()->labels(i), shard.split);
        places_.push_back({shards_.back().get(), i, shard.described});
      }
    }
  }

  const PackManifest& manifest() const override { return manifest_; }
  const std::vector<std::int64_t>& shape() const override { return manifest_.backbone.shape; }
  std::size_t floats() const override { return manifest_.backbone.floats(); }
  const std::string& backbone() const override { return manifest_.backbone.fingerprint; }
  const std::string& split_point() const override { return manifest_.backbone.split_point; }

  Digest digest(std::size_t i) const override {
    table_.check(i);
    return places_[i].shard->digest(places_[i].index);
  }
  bool is_described(std::size_t i) const override {
    table_.check(i);
    return places_[i].described;
  }

 protected:
  void read_into(std::size_t i, float* out) const override {
    table_.check(i);
    places_[i].shard->read(places_[i].index, out);
  }

 private:
  struct Place {
    const FeatureShard* shard;
    std::size_t index;
    bool described;
  };
  PackManifest manifest_;
  std::vector<std::unique_ptr<FeatureShard>> shards_;
  std::vector<Place> places_;
};

}  // namespace

FeaturePackWriter::FeaturePackWriter(const fs::path& folder, std::vector<std::string> classes,
                                     KindPtr kind, const PackBackbone& backbone,
                                     const PackOptions& options)
    : pack_(folder, describe(std::move(classes), std::move(kind), backbone), options) {}

void FeaturePackWriter::add(Split split, std::span<const ClassId> labels, const Digest& digest,
                            std::span<const float> features, bool described) {
  const std::size_t classes = pack_.manifest().classes.size();
  std::vector<ClassId> sorted(labels.begin(), labels.end());
  std::ranges::sort(sorted);
  if (sorted.empty() || sorted.back() >= classes ||
      std::ranges::adjacent_find(sorted) != sorted.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected one or more different labels below " + std::to_string(classes));
  }
  if (described != describes_) {
    close(Split::kTrain);
    close(Split::kValidation);
    describes_ = described;
  }
  auto& shard = open_[static_cast<std::size_t>(split)];
  if (!shard) {
    shard.emplace(pack_.next_shard(split, ".safetensors"), pack_.manifest().backbone);
  }
  shard->add(sorted, digest, features);
  if (shard->size() >= pack_.options().shard_bytes) close(split);
}

void FeaturePackWriter::close(Split split) {
  auto& shard = open_[static_cast<std::size_t>(split)];
  if (!shard) return;
  shard->close();
  pack_.close_shard(shard->path(), split, shard->count(), describes_);
  shard.reset();
}

void FeaturePackWriter::finish() {
  close(Split::kTrain);
  close(Split::kValidation);
  pack_.finish();
}

std::unique_ptr<FeaturePack> open_feature_pack(const fs::path& folder) {
  return std::make_unique<FeaturePackReader>(folder);
}

}  // namespace moil::data
