#include "daemon/worker/confinement.h"

#include "base/files/file.h"
#include "daemon/spec/processor_use.h"
#include "daemon/worker/landlock.h"
#include "daemon/worker/processor_needs.h"
#include "daemon/worker/system_calls.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MOIL_UNDER_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MOIL_UNDER_SANITIZER 1
#endif

namespace fs = std::filesystem;

namespace moil::worker {
namespace {

// The sanitizers look for leaks in a process that they clone and that traces this one, and start a
// program to name what they found.
#ifdef MOIL_UNDER_SANITIZER
constexpr bool kUnderSanitizer = true;
#else
constexpr bool kUnderSanitizer = false;
#endif

// Libraries, the C library's settings, time zones, and users' names for messages.
constexpr const char* kSystem[] = {"/usr", "/lib", "/lib64"};
constexpr const char* kSettings[] = {"/etc/ld.so.cache",   "/etc/ld.so.preload", "/etc/localtime",
                                     "/etc/nsswitch.conf", "/etc/passwd",        "/etc/group"};
// What machine this is, and what this process takes of it. Other processes stay closed: Landlock
// refuses what ptrace(2) would be refused.
constexpr const char* kMachine[] = {"/proc", "/sys/devices/system", "/sys/fs/cgroup"};

void grant(Landlock& files, const Needs& needs) {
  for (const char* path : kSystem) files.may_read(path);
  for (const char* path : kSettings) files.may_read(path);
  for (const char* path : kMachine) files.may_read(path);
  files.may_read("/dev/urandom");
  files.may_update("/dev/null");
  files.may_update("/proc/self/clear_refs");  // its peak of memory begins anew
  for (const fs::path& path : needs.read) files.may_read(path);
  for (const fs::path& path : needs.update) files.may_update(path);
  for (const fs::path& path : needs.control) files.may_control(path);
  for (const fs::path& path : needs.change) files.may_change(path);
}

// Somebody else made the folder: what its links lead to is needed, too.
void add_with_links(std::vector<fs::path>& paths, const fs::path& folder) {
  paths.push_back(folder);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_symlink(ignored)) paths.push_back(entry.path());
}

// SQLite's readers mark in the index of the write-ahead log what they still need.
constexpr const char* kIndex = "-shm";

void add_labels(Needs& needs, const daemon::StateLayout& layout) {
  needs.read.push_back(layout.labels());
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(layout.labels(), ignored))
    if (entry.path().native().ends_with(kIndex)) needs.update.push_back(entry.path());
}

Needs needs_of_job(const daemon::StateLayout& layout, const daemon::JobFile& job) {
  Needs needs;
  add_labels(needs, layout);
  add_with_links(needs.read, job.spec.global.pack);
  needs.read.push_back(layout.model(job.spec.model));
  needs.change = {layout.profiles(), layout.cache()};
  if (daemon::may_be_another_processor(job.spec) && daemon::why_cpu(job.spec.processors).empty())
    add_processor(needs, layout.profiles());
  return needs;
}

}  // namespace

Needs needs_of_night(const daemon::StateLayout& layout, const daemon::JobFile& job) {
  Needs needs = needs_of_job(layout, job);
  needs.change.push_back(layout.job(job.id));
  needs.change.push_back(layout.model(job.spec.model));
  return needs;
}

Needs needs_of_plan(const daemon::StateLayout& layout, const std::string& job_file,
                    const daemon::JobFile& job) {
  Needs needs = needs_of_job(layout, job);
  needs.read.emplace_back(job_file);
  needs.change.push_back(layout.jobs());  // for files without a name
  return needs;
}

Needs needs_of_import(const daemon::StateLayout& layout, const fs::path& source,
                      const fs::path& pack, const std::string& model) {
  Needs needs;
  add_with_links(needs.read, source);
  if (!pack.empty()) add_with_links(needs.read, pack);
  needs.change = {layout.model(model)};
  return needs;
}

// What is copied is open already.
Needs needs_of_pack(const daemon::StateLayout& layout) {
  return {.read = {}, .update = {}, .control = {}, .change = {layout.packs()}};
}

Needs needs_of_backup(const daemon::StateLayout& layout, const fs::path& scratch) {
  Needs needs;
  add_labels(needs, layout);
  const std::string database = layout.database();
  for (const fs::path& read : {layout.models(), layout.packs(), layout.profiles(),
                               layout.database(), fs::path(database + "-wal")})
    needs.read.push_back(read);
  needs.update.emplace_back(database + kIndex);
  needs.change = {scratch};
  return needs;
}

Needs needs_of_restore(const daemon::StateLayout& layout) {
  return {.read = {}, .update = {}, .control = {}, .change = {layout.restoring()}};
}

Needs needs_of_model(const fs::path& model) {
  return {.read = {model}, .update = {}, .control = {}, .change = {}};
}

std::string confine(const Needs& needs) {
  for (const fs::path& folder : needs.change) make_private_folder(folder);
  std::string missing;
  if (landlock_version() > 0) {
    Landlock files;
    grant(files, needs);
    files.enforce();
  } else {
    missing = "this kernel has no Landlock: the worker may open what its user may";
  }
  if (kUnderSanitizer || refuse_system_calls()) return missing;
  return missing + (missing.empty() ? "" : "; ") +
         "this kernel has no seccomp: the worker may make every system call";
}

}  // namespace moil::worker
