#include "daemon/worker/pack.h"

#include <unistd.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/unflushed.h"
#include "daemon/spec/pack_told.h"
#include "daemon/worker/handed_over.h"
#include "datasets/pack/feature_pack.h"
#include "datasets/pack/sample_pack.h"

namespace moil::worker {
namespace fs = std::filesystem;

namespace {

// Reads it from end to end.
void check_pack(const fs::path& folder) {
  const auto kind = data::read_manifest(folder).kind;
  if (kind == data::PackKind::kFeatures)
    (void)data::open_feature_pack(folder);
  else
    (void)data::open_sample_pack(folder);
}

[[noreturn]] void is_there_already(const std::string& name) {
  throw Error(ErrorCode::kAlreadyExists, "there is a pack \"" + name +
                                             "\" already; give this one another name, or remove "
                                             "that one (moilctl pack rm)");
}

void flush_all(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) flush_file(entry.path());
  sync_folder(folder);
}

}  // namespace

Json import_pack(const daemon::StateLayout& layout, const std::string& name,
                 const std::vector<std::string>& files, const fs::path& source) {
  const fs::path incoming = layout.incoming_pack(name, ::getpid()), place = layout.pack(name);
  if (fs::exists(place)) is_there_already(name);
  try {
    take_over(files, incoming, is_of_pack);
    check_pack(incoming);
    flush_all(incoming);
    std::error_code error;
    fs::rename(incoming, place, error);
    if (error) is_there_already(name);  // it came meanwhile
    sync_folder(layout.packs());
  } catch (const Error& error) {
    std::error_code ignored;
    fs::remove_all(incoming, ignored);
    throw Error(error.code(), named_after(source, incoming, error.what()));
  }
  return daemon::pack_told(parsed_json(read_text(place / "pack.json")), name, place);
}

}  // namespace moil::worker
