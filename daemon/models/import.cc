#include "daemon/models/import.h"

#include "base/access.h"
#include "base/files/file.h"
#include "daemon/models/class_space.h"
#include "daemon/models/model_folder.h"
#include "daemon/models/pack_kind.h"
#include "datasets/pack/feature_pack.h"
#include "datasets/pack/sample_pack.h"

namespace moil::night {
namespace {

// As a night will: what it would refuse is refused before anything is imported.
void check_pack(const std::filesystem::path& pack, const ModelBundle& model) {
  require_readable(pack);
  const data::PackManifest manifest = data::read_manifest(pack);
  require_same_kind(manifest, *model.kind);
  const bool is_packed = manifest.kind == data::PackKind::kFeatures;
  if (is_packed) (void)data::open_feature_pack(pack);
  data::Mix classes;
  if (!is_packed) classes.classes = data::open_sample_pack(pack)->classes();
  if (is_packed) classes.classes = manifest.classes;
  classes.global_classes = classes.classes.size();
  if (model.task->outputs_are_labels()) renumber_classes(classes, model.labels);
}

}  // namespace

daemon::ImportResult import_model(const Import& import, const daemon::StateLayout& layout) {
  const ModelBundle bundle = read_model_folder(import.source);
  if (!import.pack.empty()) check_pack(import.pack, bundle);
  const auto incoming = layout.incoming(import.name, import.version);
  const auto target = layout.version(import.name, import.version);
  if (!std::filesystem::is_directory(target)) {
    std::filesystem::remove_all(incoming);
    write_model_folder(incoming, bundle);
    rename_durable(incoming, target);
  }
  const std::size_t bytes = weight_bytes(bundle.weights);
  daemon::ImportResult result;
  result.summary = bundle.description.name + ": " +
                   std::to_string(bundle.description.layers.size()) + " layers, " +
                   std::to_string(bytes / sizeof(float)) + " weights, " +
                   std::to_string(bundle.labels.size()) + " labels" +
                   training_remark(bundle.description, *bundle.task);
  result.details = {{"layers", bundle.description.layers.size()},
                    {"weight_bytes", bytes},
                    {"labels", bundle.labels},
                    {"task", bundle.task->name()}};
  return result;
}

}  // namespace moil::night
