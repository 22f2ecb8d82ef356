#include "daemon/ctl/labels/sample_files.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "daemon/ctl/text.h"
#include "datasets/labels/folder_walk.h"
#include "datasets/labels/media_type.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

const char* in_words(data::FolderWalk::Why why) {
  using Why = data::FolderWalk::Why;
  if (why == Why::kService) return "hidden, or a system's own";
  return why == Why::kAround ? "it is a link to a folder that holds it"
                             : "it is no file, or a link that leads nowhere";
}

void gather(const fs::path& folder, SampleFiles& found) {
  const data::FolderWalk walk = data::walk_folder(folder);
  for (const std::string& file : walk.files) found.files.push_back(folder / file);
  for (const auto& [path, why, is_folder] : walk.passed_over)
    found.passed_over.push_back(
        {folder / path, in_words(why), why == data::FolderWalk::Why::kService});
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
