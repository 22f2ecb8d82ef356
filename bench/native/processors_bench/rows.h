// Measures one network on the CPU, on the other processor, and by every selection between them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "engine/device/processor.h"
#include "engine/device/recorded_device.h"
#include "engine/model/model_description.h"

namespace moil::bench {

struct Row {
  std::string network, mode, method, device;
  std::int64_t batch = 0;
  bool shares_memory = true;
  double seconds = 0, predicted_seconds = 0;
  std::uint64_t transfers = 0;
  bool is_input = false;  // its seconds are those that the record was given, and no result
};
[[nodiscard]] nlohmann::json to_json(const Row& row);

struct NetworkCase {
  ModelDescription model;
  std::int64_t batch = 32;
  bool training = true;
  int runs = 5;
};

// shared, copies: the same device with the host's memory and without; the second may be null.
// say: what is being measured.
[[nodiscard]] std::vector<Row> measure_rows(const NetworkCase& c,
                                            const std::shared_ptr<Processor>& shared,
                                            const std::shared_ptr<Processor>& copies,
                                            const std::function<void(const std::string&)>& say);

// The same, costed on a recorded device; the seconds are predictions.
[[nodiscard]] std::vector<Row> recorded_rows(const NetworkCase& c, const RecordedDevice& device);
// What was measured on a device, to be recorded. copies may be null.
[[nodiscard]] RecordedDevice record_device(const NetworkCase& c,
                                           const std::shared_ptr<Processor>& shared,
                                           const std::shared_ptr<Processor>& copies);

// The largest error if one step of one layer is elsewhere: of the loss and the gradients, or of
// AG what weights and states have changed by.
struct Agreement {
  std::string layer, step;
  double max_relative_error = 0;
};
[[nodiscard]] nlohmann::json to_json(const Agreement& agreement);
[[nodiscard]] std::vector<Agreement> measure_agreement(const ModelDescription& model,
                                                       std::int64_t batch,
                                                       const std::shared_ptr<Processor>& processor);

}  // namespace moil::bench
