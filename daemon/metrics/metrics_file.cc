#include "daemon/metrics/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/error.h"
#include "base/files/disk_full.h"
#include "base/files/open_file.h"
#include "base/files/write_all.h"
#include "daemon/log/log.h"

namespace moil::daemon {
namespace {

constexpr std::chrono::milliseconds kFirst{1000}, kPause{60'000};
constexpr mode_t kReadable = 0644;  // node_exporter is another user

// Under a name that node_exporter passes over, then under its own.
void replace(const std::filesystem::path& file, const std::string& text) {
  const std::string aside = file.string() + ".new";
  const UniqueFd out(open_file(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
  if (!out) throw system_error("cannot write " + aside, errno);
  ::fchmod(out.get(), kReadable);  // whatever the umask says
  if (!write_all(out.get(), text)) throw_write_error("cannot write " + aside, errno);
  if (::rename(aside.c_str(), file.c_str()) != 0)
    throw system_error("cannot replace " + file.string(), errno);
}

}  // namespace

MetricsFile::MetricsFile(EventLoop& loop, OutsideCalls& outside, std::filesystem::path file,
                         Collect collect)
    : loop_(loop), outside_(outside), file_(std::move(file)), collect_(std::move(collect)) {
  if (!file_.empty()) write_soon(kFirst);
}

MetricsFile::~MetricsFile() { loop_.cancel(timer_); }

void MetricsFile::write_soon(std::chrono::milliseconds wait) {
  timer_ = loop_.after(wait, [this] { write(); });
}

void MetricsFile::write() {
  write_soon(kPause);
  try {
    collect_([this](const std::string& text) { put(text); });
  } catch (const std::exception& error) {
    failed(error.what());
  }
}

// Its disk may be any and may hang.
void MetricsFile::put(const std::string& text) {
  outside_.start<bool>(
      [file = file_, text] {
        replace(file, text);
        return true;
      },
      [this](bool) { complaint_.clear(); },
      [this](const std::exception_ptr& error) {
        try {
          std::rethrow_exception(error);
        } catch (const std::exception& why) {
          failed(why.what());
        }
      });
}

// Once, not every minute.
void MetricsFile::failed(const std::string& why) {
  if (why != complaint_)
    log_warn("the metrics are not written: {}; see metrics.textfile in moild.json", why);
  complaint_ = why;
}

}  // namespace moil::daemon
