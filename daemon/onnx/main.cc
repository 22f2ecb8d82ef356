// moil-import and moil-export: models from and to other tools, as ONNX and TensorFlow Lite files.
// Both are names of moil-onnx, which has them as commands, and one for the daemon (model.export,
// daemon/spec/worker_protocol.h).
#include <sysexits.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/version.h"
#include "daemon/manual/manual.h"
#include "daemon/onnx/conversion.h"
#include "daemon/spec/worker_protocol.h"
#include "daemon/worker/confinement.h"

namespace {

constexpr char kBoth[] = "moil-onnx", kImport[] = "moil-import", kExport[] = "moil-export";
constexpr char kImportHelp[] = "Makes a model folder of an ONNX or TensorFlow Lite file.",
               kExportHelp[] = "Makes an ONNX or TensorFlow Lite file of a model folder.";

// What the user typed, if that is a name of this program.
std::string name_typed(int argc, char** argv) {
  const std::string typed = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  return typed == kImport || typed == kExport ? typed : kBoth;
}

int exit_code_of(moil::ErrorCode code) {
  switch (code) {
    case moil::ErrorCode::kNotFound:
      return EX_NOINPUT;
    case moil::ErrorCode::kBadData:
    case moil::ErrorCode::kUnimplemented:
      return EX_DATAERR;
    case moil::ErrorCode::kIo:
      return EX_IOERR;
    case moil::ErrorCode::kAlreadyExists:
      return EX_CANTCREAT;
    default:
      return EX_USAGE;
  }
}

void add_import(moil::cli::Command import, moil::ImportArguments& a) {
  import.add_option("FILE", a.file, "ONNX file, whose external data lies beside it, or .tflite")
      .required();
  import.add_option("--out=DIR", a.folder, "Folder to make").required();
  import.add_option("--name", a.name, "Name of the model; the graph's if left out");
  import.add_option(
      "--labels=FILE", a.labels,
      "JSON list of the classes' names, or text or CSV with one a line; numbers if left out");
  import.add_option(
      "--task", a.task,
      "classify, tag, predict or sequence, or its description as JSON (docs/tasks.md); "
      "the file's if left out, else classify");
  moil::cli::Option preprocessing = import.add_option(
      "--preprocessing=FILE", a.preprocessing,
      "JSON: what a sample is, and what is done to it first (docs/kinds.md, docs/onnx.md)");
  import
      .add_option("--kind", a.kind,
                  "Without --preprocessing: image (pixels from 0 to 1), sound (YAMNet's front end "
                  "with as many frames and bands; of a network that takes samples, these), rows "
                  "(numbers as they are) or tokens (the bytes of "
                  "a text)")
      .check(moil::cli::one_of({"image", "sound", "rows", "tokens"}))
      .excludes(preprocessing);
  import
      .add_option("--rate=HZ", a.rate,
                  "Of --kind sound, if the network takes samples: how many a second")
      .check(moil::cli::within(1000, 192000));
  import.add_option("--input-dims=N", a.input_dims,
                    "Dims of one sample where the file leaves them open: 3 224 224");
  import.add_option("--output=NAME", a.output,
                    "Which of several outputs of the file is the model's");
}

// to_tflite: whatever the file is called.
void add_export(moil::cli::Command exporter, moil::ExportArguments& a, bool& to_tflite) {
  exporter.add_option("DIR", a.folder, "Model folder").required();
  exporter.add_option("--out=FILE", a.file, "File to write").required();
  exporter.add_flag("--tflite", to_tflite,
                    "TensorFlow Lite in place of ONNX, as for a FILE that ends in .tflite");
}

struct DaemonExport {
  std::string folder, format = "onnx";
  int descriptor = -1, reply = -1;
};

// Not for people.
moil::cli::Command add_daemon_export(moil::cli::Command app, DaemonExport& to) {
  moil::cli::Command command =
      app.add_subcommand("export-to", "Model folder to an open file").group("");
  command.add_option("--reply", to.reply, "Descriptor for the answer").required();
  command.add_option("--model-folder", to.folder, "Model folder").required();
  command.add_option("--descriptor", to.descriptor, "The file's").required();
  command.add_option("--format", to.format, "The file's")
      .check(moil::cli::one_of({"onnx", "tflite"}));
  return command;
}

// As worker_protocol.h has it: events on stdout, the answer beside them. A model in the store is
// what a stranger made it: nothing is read but its folder, and nothing written but the file that is
// open.
int export_for_daemon(const DaemonExport& to) {
  moil::daemon::EventWriter events(STDOUT_FILENO);
  try {
    const std::string missing = moil::worker::confine(moil::worker::needs_of_model(to.folder));
    if (!missing.empty()) std::fprintf(stderr, "moil-onnx: %s\n", missing.c_str());
    const auto format = to.format == "tflite" ? moil::FileFormat::kTflite : moil::FileFormat::kOnnx;
    const moil::Exported exported = moil::export_to(to.folder, to.descriptor, format);
    moil::daemon::write_reply(to.reply, {{"summary", exported.summary}, {"bytes", exported.bytes}});
    events.result();
    return moil::daemon::kExitDone;
  } catch (const moil::Error& e) {
    events.error(e);
    return exit_code_of(e.code());
  } catch (const std::exception& e) {
    events.error(moil::Error(moil::ErrorCode::kInternal, e.what()));
    return EX_SOFTWARE;
  }
}

// Runs `convert`, whose line is for the user; the status is that of the program.
template <class Convert>
int converted(const std::string& name, const Convert& convert) {
  try {
    std::printf("%s\n", convert().c_str());
    return EX_OK;
  } catch (const moil::Error& e) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
    return exit_code_of(e.code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
    return EX_SOFTWARE;
  }
}

struct Arguments {
  moil::ImportArguments import;
  moil::ExportArguments exporter;
  bool to_tflite = false;
};

int import_by(const std::string& name, const Arguments& a) {
  return converted(name, [&] { return moil::import_file(a.import); });
}

int export_by(const std::string& name, Arguments& a) {
  if (a.to_tflite || a.exporter.file.ends_with(".tflite"))
    a.exporter.format = moil::FileFormat::kTflite;
  return converted(name, [&] { return moil::export_file(a.exporter); });
}

// As moil-import or moil-export, whose options are the program's own.
int run_one(const std::string& name, int argc, char** argv) {
  const bool imports = name == kImport;
  moil::cli::Program app(imports ? kImportHelp : kExportHelp, name, moil::kVersion);
  Arguments arguments;
  if (imports)
    add_import(app, arguments.import);
  else
    add_export(app, arguments.exporter, arguments.to_tflite);
  moil::manual::add_manual(app);
  if (const auto exit = app.parse(argc, argv)) return *exit;
  return imports ? import_by(name, arguments) : export_by(name, arguments);
}

int run_both(int argc, char** argv) {
  moil::cli::Program app(
      "Brings models from other tools, as ONNX or TensorFlow Lite files, and takes them there.",
      kBoth, moil::kVersion);
  app.require_subcommand(1);
  Arguments arguments;
  moil::cli::Command import =
      app.add_subcommand("import", "ONNX or TensorFlow Lite file to model folder, as moil-import");
  add_import(import, arguments.import);
  moil::cli::Command exporter =
      app.add_subcommand("export", "Model folder to ONNX or TensorFlow Lite file, as moil-export");
  add_export(exporter, arguments.exporter, arguments.to_tflite);
  DaemonExport for_daemon;
  moil::cli::Command exporter_to = add_daemon_export(app, for_daemon);
  moil::manual::add_manual(app);
  if (const auto exit = app.parse(argc, argv)) return *exit;
  if (exporter_to.given()) return export_for_daemon(for_daemon);
  return import.given() ? import_by(kBoth, arguments) : export_by(kBoth, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = name_typed(argc, argv);
  return name == kBoth ? run_both(argc, argv) : run_one(name, argc, argv);
}
