#include "datasets/pack/pack_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/open_file.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

void sync_file(const fs::path& path) {
  const int fd = open_file(path, O_RDONLY);
  if (fd < 0) throw system_error("cannot open " + path.string(), errno);
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (error != 0) throw system_error("cannot fsync " + path.string(), error);
}

}  // namespace

void check_pack_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error) || fs::is_empty(folder, error)) return;
  throw Error(ErrorCode::kAlreadyExists, folder.string() + " is there and not empty");
}

PackWriter::PackWriter(fs::path folder, PackManifest manifest, PackOptions options)
    : folder_(std::move(folder)), manifest_(std::move(manifest)), options_(options) {
  manifest_.shards.clear();
  manifest_.targets = options_.targets;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw system_error("cannot create " + folder_.string(), error.value());
  check_pack_folder(folder_);
}

fs::path PackWriter::next_shard(Split split, const char* extension) const {
  const auto of_split = std::ranges::count(manifest_.shards, split, &PackShard::split);
  std::string number = std::to_string(of_split);
  number.insert(0, 5 - std::min<std::size_t>(number.size(), 5), '0');
  return folder_ / (std::string(to_string(split)) + "-" + number + extension);
}

void PackWriter::close_shard(const fs::path& file, Split split, std::uint64_t samples,
                             bool described) {
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);  // as pack.json
  sync_file(file);
  manifest_.shards.push_back({file.filename().string(), split, samples, fs::file_size(file),
                              checksum_of(file), described});
}

void PackWriter::finish() { write_manifest(folder_, manifest_); }

}  // namespace moil::data
