#include "daemon/worker/handed_over.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/error.h"
#include "base/files/disk_full.h"
#include "base/files/file.h"
#include "base/files/write_all.h"
#include "daemon/spec/model_files.h"

namespace moil::worker {
namespace {

struct File {
  std::string name;
  int descriptor;
};

File parsed(const std::string& text, IsTaken is_taken) {
  const std::size_t equals = text.rfind('=');
  File file{text.substr(0, equals), -1};
  if (equals != std::string::npos)
    std::from_chars(text.data() + equals + 1, text.data() + text.size(), file.descriptor);
  if (!is_taken(file.name) || file.descriptor < 0)
    throw Error(ErrorCode::kInvalidArgument, "\"" + text + "\" is no file that is taken over");
  return file;
}

void copy(const File& from, const std::filesystem::path& to) {
  struct stat info {};
  if (::fstat(from.descriptor, &info) != 0 || !S_ISREG(info.st_mode))
    throw Error(ErrorCode::kInvalidArgument, from.name + " is not a regular file");
  const UniqueFd copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!copy) throw_write_error("cannot create " + to.string(), errno);
  std::vector<std::uint8_t> chunk(std::size_t{1} << 20);
  for (off_t at = 0; at < info.st_size;) {
    const ssize_t n = ::pread(from.descriptor, chunk.data(), chunk.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read " + from.name, errno);
    if (n == 0) break;  // it became shorter
    if (!write_all(copy.get(), std::span(chunk).first(static_cast<std::size_t>(n))))
      throw_write_error("cannot write " + to.string(), errno);
    at += n;
  }
}

}  // namespace

bool is_of_model(const std::string& name) {
  return std::ranges::find(daemon::kModelFiles, name) != daemon::kModelFiles.end();
}

bool is_of_pack(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
}

void take_over(const std::vector<std::string>& files, const std::filesystem::path& folder,
               IsTaken is_taken) {
  std::filesystem::remove_all(folder);
  make_private_folder(folder);
  for (const std::string& text : files) {
    const File file = parsed(text, is_taken);
    copy(file, folder / file.name);
  }
}

std::string named_after(const std::filesystem::path& named, const std::filesystem::path& copied,
                        std::string text) {
  for (std::size_t at = 0; (at = text.find(copied.native(), at)) != std::string::npos;
       at += named.native().size())
    text.replace(at, copied.native().size(), named.native());
  return text;
}

}  // namespace moil::worker
