#include "datasets/tables/gzip_text.h"

#include <fcntl.h>
#include <zlib.h>

#include <cerrno>
#include <memory>

#include "base/error.h"
#include "base/files/file.h"

namespace moil::data {
namespace {

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

}  // namespace

// gzread passes plain files through.
std::string read_gzip_text(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const UniqueFd opened = open_regular(path);
  const int own = ::fcntl(opened.get(), F_DUPFD_CLOEXEC, 0);  // gzclose() closes it
  const std::unique_ptr<gzFile_s, Close> file(own < 0 ? nullptr : gzdopen(own, "rb"));
  if (!file) throw system_error("cannot open " + path.string(), errno);
  std::string text;
  char chunk[1 << 16];
  for (;;) {
    const int n = gzread(file.get(), chunk, sizeof chunk);
    if (n == 0) break;
    if (n > 0 && text.size() + static_cast<std::size_t>(n) > max_bytes) {
      throw Error(ErrorCode::kBadData,
                  path.string() + ": more than " + std::to_string(max_bytes) + " bytes of text");
    }
    if (n < 0) break;
    text.append(chunk, static_cast<std::size_t>(n));
  }
  int code = Z_OK;
  const char* message = gzerror(file.get(), &code);
  if (code != Z_OK) throw Error(ErrorCode::kBadData, path.string() + ": " + message);
  return text;
}

}  // namespace moil::data
