// label.cut: a worker cuts the piece out of the recording, which no other part of moild reads; the
// background thread adds it to the label store.
#include "base/files/file.h"
#include "base/number_text.h"
#include "daemon/loop/background.h"
#include "daemon/methods/label_case.h"
#include "daemon/methods/label_steps.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/sample_content.h"
#include "daemon/methods/split_names.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/workers/in_memory.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {
namespace {

struct CutParams {
  std::optional<std::string> content;  // as in SampleParams
  std::optional<int> file;
  std::string name;  // of the recording, as the user knows it
  double from = 0, to = 0;
  std::vector<std::string> labels;
  bool as_spelled = false;
  std::optional<data::Split> split;
  std::string step;
};

const Fields<CutParams>& fields_of(const CutParams*) {
  static const Fields<CutParams> table = {
      field("content", &CutParams::content),
      field("file", &CutParams::file),
      field("name", &CutParams::name),
      field("from", &CutParams::from, Need::kRequired),
      field("to", &CutParams::to, Need::kRequired),
      field("labels", &CutParams::labels),
      field("as_spelled", &CutParams::as_spelled),
      field("split", &CutParams::split),
      field("step", &CutParams::step, Need::kOptional, check_step),
  };
  return table;
}

// One label.cut, until it is answered.
struct Cutting {
  explicit Cutting(Call& given)
      : params(read_fields<CutParams>(given.params, "the parameters of label.cut")) {
    const SampleParams source{params.content, params.file};
    check_sample(source, given);
    if (!params.labels.empty()) (void)data::checked_label_names(params.labels);
    call = std::move(given);
    recording = descriptor_of(source, call, held);
    piece = in_memory({});
  }

  std::string name() const {
    const std::string times = number_text(params.from) + "-" + number_text(params.to) + " s";
    return params.name.empty() ? times : params.name + " " + times;
  }

  CutParams params;
  Call call;                   // whose file it may be
  std::vector<UniqueFd> held;  // else
  int recording = -1;
  UniqueFd piece;
};

Json added(data::LabelStore& labels, const Cutting& cutting, Json reply) {
  check_case(labels, cutting.params.labels, cutting.params.as_spelled);
  const auto content = read_descriptor(cutting.piece.get(), data::kMaxSampleBytes);
  const auto result = labels.add_sample(
      content, cutting.params.labels, cutting.params.split, cutting.name(), cutting.params.step,
      data::Digest::from_hex(reply.at("recording").get<std::string>()));
  reply.erase("recording");
  reply["digest"] = result.digest.hex();
  reply["split"] = to_string(result.split);
  reply["new"] = result.is_new;
  reply["name"] = cutting.name();
  reply["bytes"] = content.size();
  return reply;
}

void start_cut(Call& call, const Responder& responder, WorkerCalls& calls,
               const WorkerCommand& command, Background& background, data::LabelStore& labels) {
  const auto cutting = std::make_shared<Cutting>(call);
  const CutParams& params = cutting->params;
  WorkerCalls::Answer answer;
  answer.result = [&background, &labels, responder, cutting](const Json& piece) {
    answer_in_background(background, responder,
                         [&labels, cutting, piece] { return added(labels, *cutting, piece); });
  };
  answer.error = [responder](std::exception_ptr error) { responder.error(rpc_error(error)); };
  answer.whose = responder;
  calls.start(
      command.cut(cutting->recording, cutting->piece.get(),
                  params.name.empty() ? "the recording" : params.name, params.from, params.to),
      std::move(answer));
}

}  // namespace

MethodTable cut_methods(const Parts& by) {
  return {
      {"label.cut", "0.2", Role::kLabel, "add a piece of a recording under labels",
       Method::Lane::kWorker, by.reading<CutParams>(start_cut), std::chrono::minutes(2), 1},
  };
}

}  // namespace moil::daemon
