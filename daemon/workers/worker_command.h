// The command lines, environment and priority that workers are started with. Nights give way to
// whatever else the device does; what somebody waits for does not.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/process/worker_process.h"
#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::daemon {

class WorkerCommand {
 public:
  // `lock` is the state folder's lock, which every worker holds along (lock_file.h).
  WorkerCommand(const WorkerConfig& config, StateLayout layout, int lock);

  ProcessOptions run(const JobFile& job) const;
  struct ModelToImport {
    std::filesystem::path source;
    // Open ones of the model, by name, which must stay open until the worker was started; empty:
    // those in `source`.
    std::map<std::string, int> files;
    std::string name;
    std::int64_t version = 0;
    std::filesystem::path pack;  // that its nights will mix from; empty: none is looked at
  };
  ProcessOptions import(const ModelToImport& model) const;
  // source: what messages call the folder; files: as above, all that the pack has.
  ProcessOptions import_pack(const std::string& name, const std::filesystem::path& source,
                             const std::map<std::string, int>& files) const;
  // options: further words, "--processors" and a method, "--picture", "--timing" or "--check".
  ProcessOptions plan(const std::filesystem::path& job_file, int threads,
                      const std::vector<std::string>& options) const;
  struct PredictionWanted {
    int top = 5;            // labels a sample
    bool timeline = false;  // when labels are said
  };
  // descriptors: of the images; they must stay open until the worker was started.
  ProcessOptions predict(const std::filesystem::path& model, const std::vector<int>& descriptors,
                         const PredictionWanted& wanted) const;
  struct ListeningWanted {
    std::string name;                     // of the sound, for messages
    std::optional<int> rate;              // of samples without a head
    std::optional<double> every;          // seconds
    std::optional<double> threshold;      // of the probability
    std::optional<double> false_accepts;  // an hour
    std::vector<std::string> labels;      // empty: all
  };
  // sound: a descriptor; as above.
  ProcessOptions listen(const std::filesystem::path& model, int sound,
                        const ListeningWanted& wanted) const;
  // Shows photos and sounds; descriptors as above.
  ProcessOptions preview(const std::vector<int>& descriptors, int size) const;
  // Whether samples can be decoded; descriptors as above.
  ProcessOptions try_samples(const std::vector<int>& descriptors) const;
  // recording and piece: descriptors, open for reading and for writing; as above.
  ProcessOptions cut(int recording, int piece, const std::string& name, double from,
                     double to) const;
  // Measures the machine, with as many threads as a job that does not say.
  ProcessOptions doctor() const;
  ProcessOptions diff(const std::filesystem::path& a, const std::filesystem::path& b) const;
  // scratch: a folder that the worker makes. to, from: descriptors of the backup, which must stay
  // open until the worker was started.
  ProcessOptions backup(const std::filesystem::path& scratch, int to) const;
  ProcessOptions restore(int from) const;
  // By moil-onnx beside the worker, so that a night links no parser of ONNX. file: a descriptor
  // open for writing; it must stay open until the program was started. format: "onnx" or "tflite".
  ProcessOptions export_model(const std::filesystem::path& model, int file,
                              const std::string& format) const;
  // Of what nobody waits for.
  ProcessOptions in_background(ProcessOptions process) const;
  int default_threads() const;
  const std::string& program() const { return program_; }

 private:
  ProcessOptions options(std::vector<std::string> arguments, int threads) const;
  ProcessOptions of_images(std::vector<std::string> arguments, const std::vector<int>& descriptors,
                           int threads, const std::vector<std::string>& further = {}) const;

  WorkerConfig config_;
  StateLayout layout_;
  int lock_;
  std::string program_;
};

}  // namespace moil::daemon
