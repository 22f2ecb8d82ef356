#include "engine/io/tflite/metadata.h"

#include "engine/io/onnx/utf8.h"

namespace moil::tflite {

std::map<std::string, std::string> metadata_of(const file::Model& model) {
  std::map<std::string, std::string> texts;
  const auto* entries = model.metadata();
  const auto* buffers = model.buffers();
  if (entries == nullptr || buffers == nullptr) return texts;
  for (const file::Metadata* entry : *entries) {
    if (entry->name() == nullptr || entry->buffer() >= buffers->size()) continue;
    const auto* bytes = buffers->Get(entry->buffer())->data();
    if (bytes == nullptr) continue;
    std::string text(bytes->begin(), bytes->end());
    if (onnx::is_utf8(text)) texts[entry->name()->str()] = std::move(text);
  }
  return texts;
}

}  // namespace moil::tflite
