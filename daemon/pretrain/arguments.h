// moil-pretrain's command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/command_line/command_line.h"
#include "daemon/pretrain/pretraining.h"
#include "daemon/pretrain/selection.h"

namespace moil::pretrain {

struct Arguments {
  SelectionOptions selection;
  std::string out, model, from, pack, json;
  PretrainingOptions training;
  std::string task, optimizer, schedule = "cosine", class_names, preprocessing, loss = "squares";
  std::optional<double> learning_rate, momentum, weight_decay, held_out;
  std::optional<int> epochs;
  std::vector<std::string> groups;
  int threads = 0, trainable_layers = 1;
};

// The sub-commands: "train", and the makers of packs and exports of samples.
void add_train(cli::Command app, Arguments& arguments);
void add_others(cli::Command app, Arguments& arguments);

}  // namespace moil::pretrain
