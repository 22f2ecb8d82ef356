// system.disk, system.clean: what takes room in the state folder, and less of it.
#include <algorithm>

#include "base/files/disk_full.h"
#include "daemon/loop/background.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/rpc/page.h"
#include "daemon/state/disk_usage.h"
#include "daemon/state/model_store.h"
#include "daemon/upkeep/housekeeping.h"

namespace moil::daemon {
namespace {

struct DiskParams {
  std::string after;  // "MODEL/VERSION"
};

const Fields<DiskParams>& fields_of(const DiskParams*) {
  static const Fields<DiskParams> table = {field("after", &DiskParams::after)};
  return table;
}

struct CleanParams {
  bool dry_run = false;
};

const Fields<CleanParams>& fields_of(const CleanParams*) {
  static const Fields<CleanParams> table = {field("dry_run", &CleanParams::dry_run)};
  return table;
}

// By what it is for; what is none of that is "other".
Json parts_of(const StateLayout& layout) {
  std::uint64_t known = 0;
  Json found = Json::object();
  for (const auto& [name, bytes] : disk_usage(layout)) {
    found[name] = bytes;
    known += bytes;
  }
  const std::uint64_t all = disk_usage(layout.root());
  found["other"] = all - std::min(all, known);
  return found;
}

// Versions in the order of their places, from the one after `after` on.
Json disk(const StateLayout& layout, const std::vector<ModelVersion>& versions,
          const std::string& after) {
  auto v = versions.begin();
  if (!after.empty()) {
    v = std::ranges::find(versions, after, place_of);
    if (v != versions.end()) ++v;
  }
  Page page(kMostListed);
  for (; v != versions.end(); ++v) {
    Json entry{{"model", v->model},
               {"version", v->version},
               {"active", v->active},
               {"pinned", v->pinned},
               {"bytes", disk_usage(layout.version(v->model, v->version))}};
    if (!page.add(std::move(entry), {{"after", place_of(*v)}})) break;
  }
  Json reply = std::move(page).finish("versions");
  const Json& parts = reply["parts"] = parts_of(layout);
  std::uint64_t total = 0;
  for (const Json& bytes : parts) total += bytes.get<std::uint64_t>();
  reply["bytes"] = total;
  const auto free = free_disk_bytes(layout.root());
  reply["free_bytes"] = or_null(free);
  return reply;
}

void start_disk(const DiskParams& params, const Responder& responder, Background& background,
                const StateLayout& layout, const ModelStore& models) {
  answer_in_background(background, responder, [&layout, params, versions = models.list()] {
    return disk(layout, versions, params.after);
  });
}

void start_clean(const CleanParams& params, const Responder& responder,
                 Housekeeping& housekeeping) {
  housekeeping.clean(params.dry_run, responder);
}

}  // namespace

MethodTable room_methods(const Parts& by) {
  const auto lane = Method::Lane::kSteps;
  return {
      {"system.disk", "0.2", Role::kRead, "what takes room on the disk", lane, by(start_disk)},
      {"system.clean", "0.2", Role::kAdmin, "remove what is not kept, or say what that is", lane,
       by(start_clean)},
  };
}

}  // namespace moil::daemon
