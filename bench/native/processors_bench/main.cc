// Processors: one network on the CPU, on an OpenCL device, and by every selection between the two.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/version.h"
#include "bench/native/processors_bench/rows.h"
#include "engine/io/model_json.h"
#include "engine/io/recorded_device_json.h"
#include "engine/model/preparation.h"

namespace {

using moil::bench::Row;

void say(const std::string& what) { std::fprintf(stderr, "\u00b7 %s\n", what.c_str()); }

void print(const std::vector<Row>& rows) {
  std::printf("%-10s %5s  %-10s %-7s %-6s %10s %10s %9s %7s\n", "mode", "batch", "selection",
              "memory", "what", "seconds", "predicted", "transfers", "of cpu");
  double cpu = 1;
  for (const Row& r : rows)
    if (r.method == "cpu") cpu = r.seconds;
  for (const Row& r : rows)
    std::printf("%-10s %5lld  %-10s %-7s %-6s %10.4f %10.4f %9llu %6.1f%%\n", r.mode.c_str(),
                static_cast<long long>(r.batch), r.method.c_str(),
                r.shares_memory ? "shared" : "copies", r.is_input ? "input" : "result", r.seconds,
                r.predicted_seconds, static_cast<unsigned long long>(r.transfers),
                100 * r.seconds / cpu);
  std::printf("\n");
}

struct Arguments {
  std::string model, json, device, recorded, record;
  bool quick = false;
  int runs = 5;
  std::vector<std::int64_t> batches() const {
    return quick ? std::vector<std::int64_t>{16} : std::vector<std::int64_t>{16, 32, 64, 128};
  }
};

void add(nlohmann::json& figures, const std::vector<Row>& rows) {
  print(rows);
  for (const Row& row : rows) figures["rows"].push_back(to_json(row));
}

void measure(const moil::ModelDescription& model, const Arguments& a, nlohmann::json& figures) {
  const std::shared_ptr<moil::Processor> shared =
      moil::open_processor("opencl", {.device = a.device});
  const std::shared_ptr<moil::Processor> copies =
      moil::open_processor("opencl", {.device = a.device, .share_memory = false});
  figures["device"] = shared->device();
  std::printf("%s on %s\n\n", model.name.c_str(), shared->device().c_str());
  for (const std::int64_t batch : a.batches())
    for (const bool training : {true, false})
      add(figures, moil::bench::measure_rows({model, batch, training, a.quick ? 3 : a.runs}, shared,
                                             copies, say));
  say("every step by itself, beside the CPU's");
  const auto agreement = moil::bench::measure_agreement(model, a.quick ? 2 : 8, shared);
  std::map<std::string, std::pair<int, double>> kinds;  // how many, and the worst
  for (const auto& one : agreement) {
    auto& [count, worst] = kinds[one.step];
    ++count;
    worst = std::max(worst, one.max_relative_error);
    figures["agreement"].push_back(to_json(one));
  }
  std::printf("%-4s %5s %13s\n", "step", "of", "error at most");
  for (const auto& [kind, found] : kinds)
    std::printf("%-4s %5d %13.1e\n", kind.c_str(), found.first, found.second);
  std::printf("\n");
  if (a.record.empty()) return;
  const auto device = moil::bench::record_device({model, 32, true, a.runs}, shared, copies);
  std::ofstream(a.record) << moil::format_recorded_device(device);
}

void predict(const moil::ModelDescription& model, const Arguments& a, nlohmann::json& figures) {
  const moil::RecordedDevice device = moil::read_recorded_device(a.recorded);
  std::printf("%s, by its record (%s)\n\n", device.device.c_str(), device.note.c_str());
  figures["recorded"] = device.device;
  add(figures, moil::bench::recorded_rows({model, device.batch, true, 1}, device));
}

}  // namespace

int main(int argc, char** argv) {
  moil::cli::Program app("processors: CPU, OpenCL device, and every selection between them",
                         "processors_bench", moil::kVersion);
  Arguments a;
  app.add_option("--model", a.model, "the network's description").required();
  app.add_option("--json", a.json, "the figures");
  app.add_option("--device", a.device, "a part of the device's name");
  app.add_option("--recorded", a.recorded, "a recorded device, beside the one at hand");
  app.add_option("--record", a.record, "write down what the device takes, training at batch 32");
  app.add_option("--runs", a.runs, "steps of each, of which the median counts")
      .check(moil::cli::positive());
  app.add_flag("--quick", a.quick, "batch 16 alone, three steps of each");
  if (const auto exit = app.parse(argc, argv)) return *exit;
  try {
    const moil::ModelDescription model = moil::complete_model(moil::read_model(a.model));
    nlohmann::json figures = {{"quick", a.quick},
                              {"rows", nlohmann::json::array()},
                              {"agreement", nlohmann::json::array()}};
    if (!a.recorded.empty()) predict(model, a, figures);
    try {
      measure(model, a, figures);
    } catch (const moil::ProcessorError& error) {
      std::printf("no device is measured: %s\n", error.what());
    }
    if (!a.json.empty()) std::ofstream(a.json) << figures.dump(1) << "\n";
    return 0;
  } catch (const moil::Error& error) {
    std::fprintf(stderr, "processors: %s\n", error.what());
    return 1;
  }
}
