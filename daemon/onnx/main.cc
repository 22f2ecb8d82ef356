// moil-onnx: models from and to other tools, as ONNX and TensorFlow Lite files; for people, and for
// the daemon (model.export, daemon/spec/worker_protocol.h).
#include <sysexits.h>
#include <unistd.h>

#include <cstdio>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/version.h"
#include "daemon/manual/manual.h"
#include "daemon/onnx/conversion.h"
#include "daemon/spec/worker_protocol.h"
#include "daemon/worker/confinement.h"

namespace {

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

moil::cli::Command add_import(moil::cli::Command app, moil::ImportArguments& a) {
  moil::cli::Command import =
      app.add_subcommand("import", "ONNX or TensorFlow Lite file to model folder");
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
  return import;
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

}  // namespace

int main(int argc, char** argv) {
  moil::cli::Program app(
      "Brings models from other tools, as ONNX or TensorFlow Lite files, and takes them there.",
      "moil-onnx", moil::kVersion);
  app.require_subcommand(1);
  moil::ImportArguments import_arguments;
  moil::cli::Command import = add_import(app, import_arguments);
  moil::ExportArguments export_arguments;
  bool to_tflite = false;
  moil::cli::Command exporter =
      app.add_subcommand("export", "Model folder to ONNX or TensorFlow Lite file");
  exporter.add_option("DIR", export_arguments.folder, "Model folder").required();
  exporter.add_option("--out=FILE", export_arguments.file, "File to write").required();
  exporter.add_flag("--tflite", to_tflite,
                    "TensorFlow Lite in place of ONNX, as for a FILE that ends in .tflite");
  DaemonExport for_daemon;
  moil::cli::Command exporter_to = add_daemon_export(app, for_daemon);
  moil::manual::add_manual(app);
  if (const auto exit = app.parse(argc, argv)) return *exit;
  if (exporter_to.given()) return export_for_daemon(for_daemon);
  try {
    if (to_tflite || export_arguments.file.ends_with(".tflite"))
      export_arguments.format = moil::FileFormat::kTflite;
    if (import.given())
      std::printf("%s\n", moil::import_file(import_arguments).c_str());
    else
      std::printf("%s\n", moil::export_file(export_arguments).c_str());
    return EX_OK;
  } catch (const moil::Error& e) {
    std::fprintf(stderr, "moil-onnx: %s\n", e.what());
    return exit_code_of(e.code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "moil-onnx: %s\n", e.what());
    return EX_SOFTWARE;
  }
}
