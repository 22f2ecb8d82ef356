#include "datasets/pack/sample_pack.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "datasets/readers/input_file.h"
#include "datasets/readers/split_labels.h"
#include "datasets/readers/tar_index.h"
#include "datasets/samples/sample_table.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

class SamplePackReader final : public TableDataset<SamplePack> {
 public:
  explicit SamplePackReader(const fs::path& folder) : manifest_(read_manifest(folder)) {
    if (manifest_.kind != PackKind::kSamples) {
      throw Error(ErrorCode::kFailedPrecondition,
                  folder.string() + ": a pack of feature maps, expected one of images");
    }
    table_ = SampleTable(manifest_.classes);
    std::map<std::string, ClassId> ids;
    for (std::size_t k = 0; k < manifest_.classes.size(); ++k) {
      ids[manifest_.classes[k]] = static_cast<ClassId>(k);
    }
    for (const auto& shard : manifest_.shards) {
      verify_shard(folder, shard);
      files_.push_back(std::make_unique<InputFile>(folder / shard.file));
      take(shard, ids);
    }
    if (const char separator = manifest_.label_separator) table_ = split_table(*this, separator);
  }

  const PackManifest& manifest() const override { return manifest_; }

  Digest digest(std::size_t i) const override { return digest_of(encoded(i)); }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    table_.check(i);
    const auto& [file, member] = members_[i];
    return file->read(member.offset, member.size);
  }
  EncodedHead head(std::size_t i, std::size_t most) const override {
    table_.check(i);
    const auto& [file, member] = members_[i];
    return {file->read(member.offset, std::min<std::uint64_t>(member.size, most)), member.size};
  }
  std::string name(std::size_t i) const override {
    table_.check(i);
    return members_[i].file->path().string() + ": " + members_[i].member.name;
  }

 private:
  struct Member {
    const InputFile* file;
    TarMember member;
  };

  void take(const PackShard& shard, const std::map<std::string, ClassId>& ids) {
    const InputFile& file = *files_.back();
    auto members = index_tar(file);
    if (members.size() != shard.samples) {
      throw Error(ErrorCode::kBadData,
                  file.path().string() + ": holds " + std::to_string(members.size()) +
                      " samples, pack.json says " + std::to_string(shard.samples));
    }
    for (auto& member : members) {
      const auto found = ids.find(member.name.substr(0, member.name.find('/')));
      if (found == ids.end()) {
        throw Error(ErrorCode::kBadData,
                    file.path().string() + ": " + member.name + " is of no class of the pack");
      }
      table_.add({found->second}, shard.split);
      members_.push_back({&file, std::move(member)});
    }
  }

  PackManifest manifest_;
  std::vector<std::unique_ptr<InputFile>> files_;
  std::vector<Member> members_;
};

}  // namespace

std::unique_ptr<SamplePack> open_sample_pack(const fs::path& folder) {
  return std::make_unique<SamplePackReader>(folder);
}

}  // namespace moil::data
