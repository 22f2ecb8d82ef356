#include "engine/elastic/cached_maps.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/files/disk_full.h"
#include "base/files/unnamed_file.h"

namespace moil {
namespace {

constexpr const char* kCannotRead = "cannot read cached feature maps";
constexpr const char* kCannotWrite = "cannot write cached feature maps";

}  // namespace

CachedMaps::CachedMaps(const std::filesystem::path& folder, std::string cut, const Shape& shape)
    : file_(open_unnamed_file(folder)), folder_(folder), cut_(std::move(cut)), shape_(shape) {
  if (!file_) throw_write_error("cannot make a file for feature maps in " + folder.string(), errno);
}

void CachedMaps::read(std::span<const std::int64_t> indices, const Batch& batch) {
  float *inputs = batch.inputs[0].values.data(), *targets = batch.targets[0].values.data();
  for (const std::int64_t index : indices) {
    const auto found = places_.find(index);
    if (found == places_.end())
      throw Error(ErrorCode::kInvalidArgument,
                  "sample " + std::to_string(index) + " has no cached feature map");
    const std::span map(inputs, shape_.map_elements), target(targets, shape_.target_elements);
    const std::size_t offset = found->second * record_bytes();
    read_at(file_, offset, std::as_writable_bytes(map), kCannotRead);
    read_at(file_, offset + map.size_bytes(), std::as_writable_bytes(target), kCannotRead);
    inputs += map.size();
    targets += target.size();
  }
}

std::vector<std::int64_t> CachedMaps::missing(std::span<const std::int64_t> indices) const {
  std::vector<std::int64_t> wanted(indices.begin(), indices.end());
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::erase_if(wanted, [&](std::int64_t index) { return has(index); });
  return wanted;
}

void CachedMaps::reserve(std::size_t count) {
  if (count == 0) return;
  const std::size_t offset = places_.size() * record_bytes(), bytes = count * record_bytes();
  const int error =
      ::posix_fallocate(file_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error != 0)
    throw_write_error(
        "no room for " + std::to_string(bytes) + " bytes of feature maps in " + folder_.string(),
        error);
}

void CachedMaps::add(std::int64_t index, std::span<const float> map,
                     std::span<const float> target) {
  if (map.size() != shape_.map_elements || target.size() != shape_.target_elements)
    throw Error(ErrorCode::kInvalidArgument, "cached maps: a map or target of another size");
  const std::size_t place = places_.size(), offset = place * record_bytes();
  write_at(file_, offset, std::as_bytes(map), kCannotWrite);
  write_at(file_, offset + map.size_bytes(), std::as_bytes(target), kCannotWrite);
  places_.emplace(index, place);
}

}  // namespace moil
