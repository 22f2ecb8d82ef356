#include "engine/io/model_json.h"

#include "base/files/file.h"

namespace moil {

ModelDescription read_model(const std::filesystem::path& path) {
  constexpr std::uint64_t kMaxBytes = 16 << 20;
  return parse_model(read_text(path, kMaxBytes), path.string());
}

void write_model(const std::filesystem::path& path, const ModelDescription& model) {
  write_file_atomic(path, format_model(model));
}

}  // namespace moil
