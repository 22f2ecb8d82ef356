#include "daemon/workers/worker_command.h"

#include <algorithm>
#include <thread>

#include "base/this_program.h"

namespace moil::daemon {
namespace {

// One word each, so that a name or a number may begin with a dash.
std::string word(const char* option, const Json& value) {
  return std::string(option) + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

WorkerCommand::WorkerCommand(const WorkerConfig& config, StateLayout layout, int lock)
    : config_(config),
      layout_(std::move(layout)),
      lock_(lock),
      program_(config.path.empty() ? (this_program().parent_path() / "moil-worker").string()
                                   : config.path) {}

int WorkerCommand::default_threads() const {
  return config_.threads.value_or(
      static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

ProcessOptions WorkerCommand::run(const JobFile& job) const {
  return in_background(options({program_, "run", "--job-file", layout_.job_file(job.id).string(),
                                "--state-dir", layout_.root().string()},
                               job.threads));
}

ProcessOptions WorkerCommand::import(const ModelToImport& model) const {
  std::vector<std::string> arguments{
      program_,      "import",      "--source",  model.source,
      "--model",     model.name,    "--version", std::to_string(model.version),
      "--state-dir", layout_.root()};
  if (!model.pack.empty()) arguments.insert(arguments.end(), {"--pack", model.pack});
  for (const auto& [name, fd] : model.files)
    arguments.insert(arguments.end(), {"--file", name + "=" + std::to_string(fd)});
  ProcessOptions process = options(std::move(arguments), 1);
  for (const auto& [name, fd] : model.files) process.keep_open.push_back(fd);
  return process;
}

ProcessOptions WorkerCommand::import_pack(const std::string& name,
                                          const std::filesystem::path& source,
                                          const std::map<std::string, int>& files) const {
  std::vector<std::string> arguments{program_, "import-pack", "--source",    source,
                                     "--pack", name,          "--state-dir", layout_.root()};
  for (const auto& [file, fd] : files)
    arguments.insert(arguments.end(), {"--file", file + "=" + std::to_string(fd)});
  ProcessOptions process = options(std::move(arguments), 1);
  for (const auto& [file, fd] : files) process.keep_open.push_back(fd);
  return process;
}

ProcessOptions WorkerCommand::plan(const std::filesystem::path& job_file, int threads,
                                   const std::vector<std::string>& options) const {
  std::vector<std::string> arguments{program_,          "plan",        "--job-file",
                                     job_file.string(), "--state-dir", layout_.root().string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return this->options(std::move(arguments), threads);
}

ProcessOptions WorkerCommand::predict(const std::filesystem::path& model,
                                      const std::vector<int>& descriptors,
                                      const PredictionWanted& wanted) const {
  std::vector<std::string> further;
  if (wanted.timeline) further.emplace_back("--timeline");
  return of_images(
      {program_, "predict", "--model-folder", model.string(), "--top", std::to_string(wanted.top)},
      descriptors, default_threads(), further);
}

// One thread: a part is small, and what listens for days is to leave the rest to others.
ProcessOptions WorkerCommand::listen(const std::filesystem::path& model, int sound,
                                     const ListeningWanted& wanted) const {
  std::vector<std::string> words{program_,
                                 "listen",
                                 "--model-folder",
                                 model.string(),
                                 word("--sound", sound),
                                 word("--name", wanted.name)};
  if (wanted.every) words.push_back(word("--every", *wanted.every));
  if (wanted.rate) words.push_back(word("--rate", *wanted.rate));
  if (wanted.threshold) words.push_back(word("--threshold", *wanted.threshold));
  if (wanted.false_accepts) words.push_back(word("--false-accepts", *wanted.false_accepts));
  for (const std::string& label : wanted.labels) words.push_back(word("--label", label));
  ProcessOptions process = options(std::move(words), 1);
  process.keep_open.push_back(sound);
  return process;
}

ProcessOptions WorkerCommand::preview(const std::vector<int>& descriptors, int size) const {
  return of_images({program_, "preview", "--size", std::to_string(size)}, descriptors, 1);
}

ProcessOptions WorkerCommand::try_samples(const std::vector<int>& descriptors) const {
  return of_images({program_, "try"}, descriptors, 1);
}

ProcessOptions WorkerCommand::cut(int recording, int piece, const std::string& name, double from,
                                  double to) const {
  ProcessOptions process =
      options({program_, "cut", word("--recording", recording), word("--piece", piece),
               word("--name", name), word("--from", from), word("--to", to)},
              1);
  process.keep_open.insert(process.keep_open.end(), {recording, piece});
  return process;
}

ProcessOptions WorkerCommand::of_images(std::vector<std::string> arguments,
                                        const std::vector<int>& descriptors, int threads,
                                        const std::vector<std::string>& further) const {
  for (const int fd : descriptors) {
    arguments.emplace_back("--image");
    arguments.push_back(std::to_string(fd));
  }
  arguments.insert(arguments.end(), further.begin(), further.end());
  ProcessOptions process = options(std::move(arguments), threads);
  process.keep_open.insert(process.keep_open.end(), descriptors.begin(), descriptors.end());
  return process;
}

ProcessOptions WorkerCommand::doctor() const {
  return options({program_, "doctor"}, default_threads());
}

ProcessOptions WorkerCommand::diff(const std::filesystem::path& a,
                                   const std::filesystem::path& b) const {
  return options({program_, "diff", "--model-folder", a.string(), "--other", b.string()}, 1);
}

ProcessOptions WorkerCommand::backup(const std::filesystem::path& scratch, int to) const {
  ProcessOptions process = options({program_, "backup", "--state-dir", layout_.root().string(),
                                    "--scratch", scratch.string(), "--to", std::to_string(to)},
                                   1);
  process.keep_open.push_back(to);
  return process;
}

ProcessOptions WorkerCommand::restore(int from) const {
  ProcessOptions process = options(
      {program_, "restore", "--state-dir", layout_.root().string(), "--from", std::to_string(from)},
      1);
  process.keep_open.push_back(from);
  return process;
}

ProcessOptions WorkerCommand::export_model(const std::filesystem::path& model, int file,
                                           const std::string& format) const {
  const auto program = std::filesystem::path(program_).parent_path() / "moil-onnx";
  ProcessOptions process = options({program.string(), "export-to", "--model-folder", model.string(),
                                    "--descriptor", std::to_string(file), "--format", format},
                                   1);
  process.keep_open.push_back(file);
  return process;
}

ProcessOptions WorkerCommand::options(std::vector<std::string> arguments, int threads) const {
  const std::string count = std::to_string(threads);
  // Threads that wait for each other sleep, so as to leave the CPU to others, but not at once: a
  // small network's step is a hundred waits of microseconds, and waking a thread takes as long.
  return {.arguments = std::move(arguments),
          .environment = {"OMP_NUM_THREADS=" + count, "OPENBLAS_NUM_THREADS=" + count,
                          "OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=3000"},
          .keep_open = {lock_}};
}

ProcessOptions WorkerCommand::in_background(ProcessOptions process) const {
  process.nice = config_.nice;
  process.io_class = config_.io_class;
  return process;
}

}  // namespace moil::daemon
