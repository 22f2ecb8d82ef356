#include "daemon/night/import.h"

#include "base/file.h"
#include "daemon/night/model_folder.h"

namespace moil::night {

daemon::ImportResult import_model(const std::filesystem::path& source,
                                  const daemon::StateLayout& layout, const std::string& name,
                                  std::int64_t version) {
  const ModelBundle bundle = read_model_folder(source);
  const auto incoming = layout.incoming(name, version);
  const auto target = layout.version(name, version);
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
