#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/json/json.h"
#include "datasets/images/codec.h"
#include "datasets/labels/media_type.h"
#include "datasets/pack/sample_pack.h"
#include "datasets/readers/class_folders.h"

namespace moil::data {
namespace {

class TarWriter {
 public:
  explicit TarWriter(const std::filesystem::path& path)
      : path_(path), archive_(archive_write_new()), entry_(archive_entry_new()) {
    // GNU's format keeps names as bytes: libarchive's pax would convert them through the locale.
    check(archive_write_set_format_gnutar(archive_.get()));
    check(archive_write_open_filename(archive_.get(), path.c_str()));
  }

  void add(const std::string& name, std::span<const std::uint8_t> bytes) {
    archive_entry_clear(entry_.get());
    archive_entry_set_pathname(entry_.get(), name.c_str());
    archive_entry_set_filetype(entry_.get(), AE_IFREG);
    archive_entry_set_perm(entry_.get(), 0644);
    archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(bytes.size()));
    check(archive_write_header(archive_.get(), entry_.get()));
    const auto written = archive_write_data(archive_.get(), bytes.data(), bytes.size());
    if (written != static_cast<la_ssize_t>(bytes.size())) check(ARCHIVE_FATAL);
    size_ += bytes.size();
    ++count_;
  }
  void close() { check(archive_write_close(archive_.get())); }

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t count() const { return count_; }

 private:
  void check(int code) const {
    if (code >= ARCHIVE_WARN) return;
    const char* text = archive_error_string(archive_.get());
    throw Error(ErrorCode::kIo, path_.string() + ": " + (text ? text : "cannot be written"));
  }

  struct Free {
    void operator()(archive* handle) const { archive_write_free(handle); }
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
  };
  std::filesystem::path path_;
  std::unique_ptr<archive, Free> archive_;
  std::unique_ptr<archive_entry, Free> entry_;
  std::uint64_t size_ = 0, count_ = 0;
};

// As JSON is written, of which the manifest and a model's labels are.
bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

void check_class(const std::string& name) {
  if (!can_name_folder(name))
    throw Error(ErrorCode::kInvalidArgument, "the class '" + name + "' cannot name a folder");
  if (is_utf8(name)) return;
  constexpr auto kReplaced = nlohmann::json::error_handler_t::replace;  // what is wrong in it
  throw Error(ErrorCode::kInvalidArgument,
              "the class " + nlohmann::json(name).dump(-1, ' ', false, kReplaced) +
                  " is not UTF-8; rename it");
}

std::string member_name(const SampleDataset& dataset, std::size_t i, const Kind& kind,
                        ClassId label, std::span<const std::uint8_t> bytes) {
  const std::string_view media = media_type_of(bytes);
  std::string_view ending = media_ending(media);
  if (ending.empty()) {
    if (!kind.takes(media))
      throw Error(ErrorCode::kBadData, dataset.name(i) + ": " + media_refusal(media));
    ending = ".bin";
  }
  std::string number = std::to_string(i);
  number.insert(0, 8 - std::min<std::size_t>(number.size(), 8), '0');
  return dataset.classes()[label] + "/" + number + std::string(ending);
}

void write_split(PackWriter& writer, const SampleDataset& dataset, const Kind& kind, Split split,
                 std::span<const ClassId> labels) {
  std::optional<TarWriter> tar;
  const auto close = [&] {
    tar->close();
    writer.close_shard(tar->path(), split, tar->count());
    tar.reset();
  };
  for (const std::size_t i : samples_of(dataset, split)) {
    if (!tar) tar.emplace(writer.next_shard(split, ".tar"));
    const auto bytes = dataset.encoded(i);
    tar->add(member_name(dataset, i, kind, labels[i], bytes), bytes);
    if (tar->size() >= writer.options().shard_bytes) close();
  }
  if (tar) close();
}

}  // namespace

void check_sample_pack(const std::filesystem::path& folder, const SampleDataset& dataset) {
  check_pack_folder(folder);
  for (const auto& name : dataset.classes()) check_class(name);
  (void)single_labels(dataset);
}

void write_sample_pack(const std::filesystem::path& folder, const SampleDataset& dataset,
                       KindPtr kind, const PackOptions& options) {
  check_sample_pack(folder, dataset);
  const auto labels = single_labels(dataset);
  PackManifest manifest;
  manifest.kind = PackKind::kSamples;
  manifest.classes = dataset.classes();
  manifest.label_separator = options.label_separator;
  manifest.sample_kind = kind;
  PackWriter writer(folder, std::move(manifest), options);
  for (const Split split : {Split::kTrain, Split::kValidation}) {
    write_split(writer, dataset, *kind, split, labels);
  }
  writer.finish();
}

}  // namespace moil::data
