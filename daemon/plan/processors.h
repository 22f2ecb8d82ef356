// moil-plan --processors: who would compute what, and what each selection would take.
#pragma once

#include <string>

#include "engine/device/selection.h"
#include "engine/model/model_description.h"
#include "engine/run/network.h"
#include "engine/train/optimizer.h"

namespace moil::plan {

struct ProcessorArguments {
  std::string method;    // of SelectionMethod
  std::string device;    // a part of its name; empty: any
  std::string recorded;  // a recorded device's file; empty: the device at hand is measured
  std::string svg;       // where the schedule is drawn; empty: nowhere
  bool json = false;
};

// model: prepared. Prints a table, or JSON. ProcessorError if there is no device to measure.
void plan_processors(const ProcessorArguments& a, const std::string& title,
                     const ModelDescription& model, const NetworkOptions& options,
                     const OptimizerConfig& optimizer);

}  // namespace moil::plan
