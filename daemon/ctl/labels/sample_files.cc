#include "daemon/ctl/labels/sample_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "daemon/ctl/text.h"
#include "datasets/labels/media_type.h"
#include "datasets/labels/service_names.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

std::vector<fs::path> content_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    paths.push_back(it->path());
  }
  if (error) throw system_error("cannot read the folder " + folder.string(), error.value());
  std::ranges::sort(paths);
  return paths;
}

void gather(const fs::path& folder, SampleFiles& found) {
  for (const fs::path& path : content_of(folder)) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (data::is_service_name(path.filename().string())) {
      found.passed_over.push_back({path, "hidden, or a system's own", true});
    } else if (fs::is_symlink(status)) {
      found.passed_over.push_back(
          {path, "it is a link, which is followed only where it is named itself"});
    } else if (fs::is_directory(status)) {
      gather(path, found);
    } else if (fs::is_regular_file(status)) {
      found.files.push_back(path);
    } else {
      found.passed_over.push_back({path, "it is no file"});
    }
  }
}

}  // namespace

std::string_view media_type_of(const UniqueFd& file) {
  std::array<std::uint8_t, 4096> head{};
  const ssize_t n = file ? ::pread(file.get(), head.data(), head.size(), 0) : -1;
  if (n <= 0) return data::kUnknownMedia;
  return data::media_type_of(std::span(head).first(static_cast<std::size_t>(n)));
}

SampleFiles gather_samples(const std::vector<std::string>& given) {
  SampleFiles found;
  for (const std::string& name : given) {
    std::error_code error;  // what is not there is told by who opens it
    if (fs::is_directory(name, error)) {
      gather(name, found);
    } else {
      found.files.emplace_back(name);
    }
  }
  return found;
}

void tell_passed_over(Console& console, const SampleFiles& found) {
  std::int64_t service = 0;
  for (const auto& passed : found.passed_over) {
    service += passed.is_service ? 1 : 0;
    if (!passed.is_service)
      console.note(printable(passed.file.string()) + ": passed over: " + passed.why);
  }
  if (service > 0) console.note(std::to_string(service) + " hidden or service files passed over");
}

}  // namespace moil::daemon::ctl
