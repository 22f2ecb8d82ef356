// The network of numbers, or of records of ids, for which none is described.
//
// Two hidden layers of 64 units: enough for what a table or a window of a sensor tells, and small
// enough to learn on the device whole. Ids get a table of rows and one hidden layer.
#pragma once

#include "datasets/samples/dataset.h"
#include "engine/model/model_description.h"

namespace moil::pretrain {

// The media type of the first sample that is no text. If all are texts, they count as tables only
// if more than half of them are some. So a note among photos makes no texts of them.
[[nodiscard]] std::string_view media_of(const data::SampleDataset& dataset);

// It takes the numbers of a sample, and ends in an output; pretraining gives it as many as there
// are. Text with the task "sequence" gets config/models/text-lstm.json. kInvalidArgument for other
// samples: photos and sounds need a model. ids: columns that are ids, as KindOptions has them.
[[nodiscard]] ModelDescription usual_network(const data::SampleDataset& dataset,
                                             const std::string& task,
                                             const std::vector<std::string>& ids = {});

// How it is trained by AdamW. What is learned goes by steps, so that a small table has more epochs;
// and the fewer samples there are, the more the weights are held back; of texts always as much. A
// large table of ids has few epochs.
struct UsualTraining {
  std::int64_t epochs = 0;
  double weight_decay = 0;
};
[[nodiscard]] UsualTraining usual_training(std::size_t samples, std::int64_t batch,
                                           const std::string& task, bool are_ids = false);
}  // namespace moil::pretrain
