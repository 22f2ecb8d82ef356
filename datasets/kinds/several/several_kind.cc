#include "datasets/kinds/several/several_kind.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace {

constexpr std::size_t kMostInputs = 16, kMostFiles = 256;
constexpr std::size_t kReaderBytes = 256 << 10;  // of who reads the archive

void require_of_several(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, "several: " + what);
}

// "a/photo.left.jpg" -> "photo".
std::string stem(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return std::string(file.substr(0, file.find('.')));
}

class TarReader {
 public:
  TarReader(std::span<const std::uint8_t> bytes, std::string_view name)
      : archive_(archive_read_new()), name_(name), most_(bytes.size()) {
    check(archive_read_support_format_tar(archive_.get()));
    check(archive_read_open_memory(archive_.get(), bytes.data(), bytes.size()));
  }

  // The next plain file's path; false at the end.
  bool next(std::string& path) {
    for (;;) {
      const int code = archive_read_next_header(archive_.get(), &entry_);
      if (code == ARCHIVE_EOF) return false;
      check(code);
      if (++files_ > kMostFiles)
        fail("it holds more than " + std::to_string(kMostFiles) + " files");
      const char* text = archive_entry_pathname(entry_);
      if (text == nullptr || archive_entry_filetype(entry_) != AE_IFREG) continue;
      path = text;
      return true;
    }
  }

  // Reads the file that next() named. A sparse file may say that it is larger than its archive.
  std::vector<std::uint8_t> content() {
    const la_int64_t size = archive_entry_size(entry_);
    if (size < 0 || static_cast<std::uint64_t>(size) > most_)
      fail("a file in it is larger than it");
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    const auto read = archive_read_data(archive_.get(), bytes.data(), bytes.size());
    if (read != static_cast<la_ssize_t>(bytes.size())) check(ARCHIVE_FATAL);
    return bytes;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kBadData, std::string(name_) + ": " + what);
  }

 private:
  void check(int code) const {
    if (code >= ARCHIVE_WARN) return;
    const char* text = archive_error_string(archive_.get());
    fail(std::string("it is no sound tar archive: ") + (text ? text : "it cannot be read"));
  }

  struct Free {
    void operator()(archive* handle) const { archive_read_free(handle); }
  };
  std::unique_ptr<archive, Free> archive_;
  archive_entry* entry_ = nullptr;
  std::string_view name_;
  std::uint64_t most_;
  std::size_t files_ = 0;
};

class SeveralMaker final : public SampleMaker {
 public:
  SeveralMaker(const std::vector<SeveralInput>& inputs, const ViewRules& rules) {
    for (const SeveralInput& input : inputs)
      parts_.push_back({input.file, input.kind, input.kind->maker(rules)});
  }

  void load(std::span<const std::uint8_t> bytes, std::string_view name) override {
    for (Part& part : parts_)
      part.maker->load(file_in_archive(bytes, part.file, name),
                       std::string(name) + ", " + part.file);
  }
  void make(const Digest& content, PartView wanted, float* out) override {
    for (Part& part : parts_) {
      const std::uint16_t view = part.kind->has_views() ? wanted.view : std::uint16_t{0};
      part.maker->make(content, {view}, out);
      out += part.kind->floats();
    }
  }
  std::optional<Likeness> likeness() override {
    for (Part& part : parts_)
      if (part.kind->has_likeness()) return part.maker->likeness();
    return std::nullopt;
  }
  void release() override {
    for (Part& part : parts_) part.maker->release();
  }

 private:
  struct Part {
    std::string file;
    KindPtr kind;
    std::unique_ptr<SampleMaker> maker;
  };
  std::vector<Part> parts_;
};

class SeveralKind final : public Kind {
 public:
  explicit SeveralKind(std::vector<SeveralInput> inputs) : inputs_(std::move(inputs)) {
    require_of_several(!inputs_.empty() && inputs_.size() <= kMostInputs,
                       "'inputs' has " + std::to_string(inputs_.size()) +
                           " entries, expected 1 to " + std::to_string(kMostInputs));
    std::set<std::string> files;
    for (const SeveralInput& input : inputs_) {
      require_of_several(
          !input.file.empty() && input.file == stem(input.file),
          "'file' is \"" + input.file + "\", expected a name without a dot or a slash");
      require_of_several(files.insert(input.file).second, "'file' is \"" + input.file + "\" twice");
      require_of_several(input.kind->name() != name(),
                         "an input is not of the kind \"several\" itself");
      require_of_several(!input.kind->has_parts(),
                         "an input's samples have no parts; leave \"hop\" out");
    }
  }

  std::string_view name() const override { return "several"; }
  nlohmann::json to_json() const override {
    nlohmann::json inputs = nlohmann::json::array();
    for (const SeveralInput& input : inputs_) {
      inputs.push_back(input.kind->to_json());
      inputs.back()["file"] = input.file;
    }
    return {{"kind", name()}, {"inputs", std::move(inputs)}};
  }
  std::string fingerprint() const override {
    std::string text = "several 1";
    for (const SeveralInput& input : inputs_)
      text += "\n" + input.file + " " + input.kind->fingerprint();
    return digest_of(text).hex();
  }
  std::vector<Dims> inputs() const override {
    std::vector<Dims> all;
    for (const SeveralInput& input : inputs_)
      for (Dims& dims : input.kind->inputs()) all.push_back(std::move(dims));
    return all;
  }
  bool takes(std::string_view media_type) const override { return media_type == kTar; }
  bool has_views() const override {
    return std::ranges::any_of(inputs_, [](const auto& i) { return i.kind->has_views(); });
  }
  bool has_likeness() const override {
    return std::ranges::any_of(inputs_, [](const auto& i) { return i.kind->has_likeness(); });
  }
  // The first bytes of the archive tell nothing of what is behind them. The whole of it takes all
  // of its files beside it: each is read before the next one.
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t> head,
                                           std::uint64_t file_bytes) const override {
    if (head.size() < file_bytes) return std::nullopt;
    std::size_t bytes = kReaderBytes;
    try {
      for (const SeveralInput& input : inputs_) {
        const auto content = file_in_archive(head, input.file, "");
        const auto of_file = input.kind->working_bytes(content, content.size());
        bytes += of_file.value_or(content.size());
      }
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kBadData) throw;
      return std::nullopt;
    }
    return file_bytes + std::max<std::size_t>(bytes, file_bytes);
  }
  std::unique_ptr<SampleMaker> maker(const ViewRules& rules) const override {
    return std::make_unique<SeveralMaker>(inputs_, rules);
  }

 private:
  const std::vector<SeveralInput> inputs_;
};

}  // namespace

void each_file_in_archive(
    std::span<const std::uint8_t> archive, std::string_view name,
    const std::function<void(const std::string&, const std::vector<std::uint8_t>&)>& visit) {
  TarReader reader(archive, name);
  for (std::string path; reader.next(path);) visit(path, reader.content());
}

std::vector<std::uint8_t> file_in_archive(std::span<const std::uint8_t> archive,
                                          const std::string& file, std::string_view name) {
  TarReader reader(archive, name);
  std::vector<std::uint8_t> found;
  bool is_found = false;
  for (std::string path; reader.next(path);) {
    if (stem(path) != file) continue;
    if (is_found) reader.fail("it holds several files called \"" + file + "\"");
    found = reader.content();
    is_found = true;
  }
  if (!is_found) reader.fail("it holds no file called \"" + file + "\", which the model takes");
  return found;
}

KindPtr several_kind(std::vector<SeveralInput> inputs) {
  return std::make_shared<SeveralKind>(std::move(inputs));
}

KindPtr several_kind_from_json(const nlohmann::json& json) {
  JsonFields fields(json, "several", ErrorCode::kInvalidArgument);
  const nlohmann::json& list = fields.at("inputs");
  if (!list.is_array()) fields.fail("'inputs' is no list");
  fields.finish();
  std::vector<SeveralInput> inputs;
  for (const nlohmann::json& entry : list) {
    if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string())
      fields.fail("each of 'inputs' is an object with a 'file'");
    nlohmann::json description = entry;
    description.erase("file");
    // Before it is read: a hostile description nests without end.
    if (description.value("kind", nlohmann::json()) == "several")
      fields.fail("an input is not of the kind \"several\" itself");
    inputs.push_back({entry["file"].get<std::string>(), kind_from_json(description)});
  }
  return several_kind(std::move(inputs));
}

}  // namespace moil::data
