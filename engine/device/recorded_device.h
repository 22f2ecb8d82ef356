// A device as it was once measured with one network: what a selection chooses by if the device
// itself is not at hand.
//
// Plain data; engine/io/recorded_device_json.h reads and writes it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/device/processor.h"
#include "engine/device/selection.h"

namespace moil {

struct RecordedDevice {
  std::string device, note, network;
  std::int64_t batch = 0;
  struct Layer {
    std::string type;
    std::array<std::optional<PassTimes>, kPasses> passes;
  };
  std::map<std::string, Layer> layers;  // by name
  TransferCosts mapped{true, {}, {}};   // on shared memory
  TransferCosts copied{false, {}, {}};  // without
};

// Plans as the device would be planned for, and computes nothing: run() and update() throw
// kFailedPrecondition. It takes every step that says what it computes.
[[nodiscard]] std::shared_ptr<Processor> make_recorded_processor(const RecordedDevice& device,
                                                                 bool shares_memory);

// The times of a problem's layers, by name; one that is not recorded takes no time and stays on the
// CPU.
void use_recorded_times(const RecordedDevice& device, SelectionProblem& problem);
// The other way round: what was measured, to be recorded.
void record_times(const SelectionProblem& problem, RecordedDevice& device);

}  // namespace moil
