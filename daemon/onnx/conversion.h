// What moil-import and moil-export do: from ONNX and TensorFlow Lite files to model folders
// (daemon/models/model_folder.h), and back.
//
// Labels, preprocessing, the task and what probabilities mean travel as metadata of the file:
// "moil.labels", a JSON list, and "moil.preprocessing", "moil.task" and "moil.calibration", JSON
// objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moil {

// Paths, as they were given.
struct ImportArguments {
  std::string file, folder;
  std::string name;
  std::string labels;         // empty: the file's own, else "0", "1", ...
  std::string task;           // empty: the file's own, else "classify"
  std::string preprocessing;  // empty: by `kind`
  std::string
      kind;      // "image", "sound", "rows" or "tokens"; empty: the file's own, else by its input
  int rate = 0;  // samples a second of the sounds that the network takes as they are
  std::string output;  // of several
  std::vector<std::int64_t> input_dims;
};

enum class FileFormat { kOnnx, kTflite };

struct ExportArguments {
  std::string folder, file;
  FileFormat format = FileFormat::kOnnx;
};

// Make what they name and say in a line what it is. Throw what reading, importing and writing
// throw; kAlreadyExists for a folder that is there; kInvalidArgument if nothing says what the input
// is, and its dims do not show it.
std::string import_file(const ImportArguments& arguments);
std::string export_file(const ExportArguments& arguments);

struct Exported {
  std::string summary;
  std::size_t bytes = 0;
};
// The same, to a regular file that is open for writing, in place of what it holds; made durable.
// kInvalidArgument for another descriptor; kIo, DiskFull.
Exported export_to(const std::string& folder, int descriptor, FileFormat format);

}  // namespace moil
