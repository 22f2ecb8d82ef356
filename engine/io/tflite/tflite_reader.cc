#include "engine/io/tflite/tflite_reader.h"

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "engine/io/onnx/problems.h"
#include "engine/io/onnx/utf8.h"
#include "engine/io/tflite/metadata.h"
#include "engine/io/tflite/operators.h"

namespace moil::tflite {
namespace {

[[noreturn]] void fail_reading(const std::string& what) { throw Error(ErrorCode::kBadData, what); }

void check_indices(const flatbuffers::Vector<int>* indices, std::size_t count, int least,
                   const char* what) {
  if (indices == nullptr) return;
  for (const int index : *indices)
    if (index < least || index >= static_cast<int>(count))
      fail_reading(std::string(what) + " names tensor " + std::to_string(index) + " of " +
                   std::to_string(count));
}

void check_name(const flatbuffers::String* name) {
  if (name != nullptr && !onnx::is_utf8(name->string_view())) fail_reading("a name is not UTF-8");
}

// What the verifier does not look at.
void check_model(const file::Model& model) {
  if (model.subgraphs() == nullptr || model.subgraphs()->size() == 0)
    fail_reading("it has no graph");
  const file::SubGraph& graph = *model.subgraphs()->Get(0);
  if (graph.tensors() == nullptr || graph.inputs() == nullptr || graph.outputs() == nullptr ||
      graph.operators() == nullptr || model.operator_codes() == nullptr)
    fail_reading("its graph has no tensors, inputs, outputs or operators");
  check_name(graph.name());
  for (const file::Tensor* tensor : *graph.tensors()) check_name(tensor->name());
  for (const file::OperatorCode* code : *model.operator_codes()) check_name(code->custom_code());
  const std::size_t tensors = graph.tensors()->size();
  check_indices(graph.inputs(), tensors, 0, "its inputs");
  check_indices(graph.outputs(), tensors, 0, "its outputs");
  for (const file::Operator* op : *graph.operators()) {
    if (op->opcode_index() >= model.operator_codes()->size())
      fail_reading("an operator's code is not there");
    check_indices(op->inputs(), tensors, -1, "an operator's inputs");
    check_indices(op->outputs(), tensors, 0, "an operator's outputs");
  }
}

// Older files have no other field than the short one.
int number_of(const file::OperatorCode& code) {
  return std::max(static_cast<int>(code.short_code()), code.code());
}

std::string called(const file::OperatorCode& code) {
  if (code.custom_code() != nullptr) return "custom operator " + code.custom_code()->str();
  const auto kind = operator_kinds().find(number_of(code));
  return kind == operator_kinds().end() ? "operator number " + std::to_string(number_of(code))
                                        : kind->second.name;
}

onnx::Graph translated(std::span<const std::uint8_t> bytes, const file::Model& model) {
  Translator translator(bytes, model);
  translator.begin();
  translator.graph().metadata = metadata_of(model);
  onnx::Problems problems;
  const auto& operators = *model.subgraphs()->Get(0)->operators();
  for (const file::Operator* op : operators) {
    const file::OperatorCode& code = *model.operator_codes()->Get(op->opcode_index());
    translator.enter(*op);
    const auto kind = operator_kinds().find(number_of(code));
    try {
      if (kind == operator_kinds().end() || code.custom_code() != nullptr)
        throw Untranslatable("it is not supported");
      if (translator.reads_complex_numbers() && !keeps_complex_numbers(kind->first))
        throw Untranslatable("of complex numbers, only the real parts are supported");
      kind->second.translate(translator);
    } catch (const Untranslatable& e) {
      const std::string output = translator.outputs() == 0 ? std::string() : translator.output();
      problems.tell("\"" + output + "\" (" + called(code) + "): " + e.what());
    }
  }
  problems.refuse_if_any(operators.size(), "operators");
  return std::move(translator.graph());
}

}  // namespace

const OperatorKinds& operator_kinds() {
  static const OperatorKinds kKinds = [] {
    OperatorKinds kinds;
    add_windows(kinds);
    add_arithmetic(kinds);
    add_arrangements(kinds);
    add_spectra(kinds);
    return kinds;
  }();
  return kKinds;
}

bool is_tflite(const std::filesystem::path& path) {
  char head[8] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(head, sizeof head) && file::ModelBufferHasIdentifier(head);
}

onnx::Graph read_tflite(const std::filesystem::path& path) {
  return parse_tflite(read_file(path, kMaxFileBytes), path.string());
}

onnx::Graph parse_tflite(std::span<const std::uint8_t> bytes, const std::string& where) {
  try {
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    if (bytes.size() < 8 || !file::VerifyModelBuffer(verifier))
      fail_reading("it is no TensorFlow Lite file, or is damaged");
    const file::Model& model = *file::GetModel(bytes.data());
    check_model(model);
    return translated(bytes, model);
  } catch (const Error& e) {
    throw Error(e.code(), where + ": " + e.what());
  }
}

}  // namespace moil::tflite
