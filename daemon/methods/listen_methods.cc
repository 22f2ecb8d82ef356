// model.listen: a worker hears a file or a pipe of the client's; what it hears is told as it comes.
#include "daemon/methods/methods.h"
#include "daemon/rpc/reply.h"
#include "daemon/spec/job_spec.h"
#include "daemon/workers/predictor.h"

namespace moil::daemon {
namespace {

struct ListenParams {
  std::optional<std::string> model;
  int file = 0;      // of those sent along
  std::string name;  // as the user knows it
  std::optional<int> rate;
  std::optional<double> every;
  std::optional<double> threshold;
  std::optional<double> false_accepts;
  std::vector<std::string> labels;
};

const Fields<ListenParams>& fields_of(const ListenParams*) {
  static const Fields<ListenParams> table = {
      field("model", &ListenParams::model),
      field("file", &ListenParams::file, Need::kRequired),
      field("name", &ListenParams::name),
      field("rate", &ListenParams::rate, Need::kOptional, between(1000, 768'000)),
      field("every", &ListenParams::every, Need::kOptional, between(0.01, 60.0)),
      field("threshold", &ListenParams::threshold, Need::kOptional, between(0.0, 1.0)),
      field("false_accepts", &ListenParams::false_accepts, Need::kOptional, between(0.001, 1000.0)),
      field("labels", &ListenParams::labels),
  };
  return table;
}

// What is not read is not kept for ever.
Predictor::Heard heard_by(const Call& call, const Responder& responder) {
  const auto stop = responder.stopper(rpc_error(std::make_exception_ptr(
      Error(ErrorCode::kCancelled, "what was heard is not read by who listens"))));
  return [client = call.client, stop](const Json& event) {
    const auto listener = client.lock();
    if (!listener || !listener->is_open()) return;
    if (!listener->has_room()) return stop();
    listener->send(notification("model.heard", {{"time", event.at("time")},
                                                {"label", event.at("label")},
                                                {"probability", event.at("probability")}}));
  };
}

void listen(const ListenParams& params, Call& call, const Responder& responder,
            Predictor& predictor) {
  if (params.file < 0 || static_cast<std::size_t>(params.file) >= call.files.size())
    throw ValidationError(
        "the parameters of " + call.method,
        {{"/file", "expected a file from 0 to less than " + std::to_string(call.files.size()) +
                       ", as many were sent along; found " + std::to_string(params.file)}});
  if (params.threshold && params.false_accepts)
    throw ValidationError("the parameters of " + call.method,
                          {{"/false_accepts", "expected nothing beside \"threshold\""}});
  const auto sound = std::make_shared<const UniqueFd>(
      std::move(call.files[static_cast<std::size_t>(params.file)]));
  predictor.listen(params.model.value_or(""), sound->get(),
                   {params.name.empty() ? "the sound" : params.name, params.rate, params.every,
                    params.threshold, params.false_accepts, params.labels},
                   responder, sound, heard_by(call, responder));
}

}  // namespace

MethodTable listen_methods(const Parts& by) {
  return {
      {"model.listen", "0.2", Role::kLabel, "what a model hears in a sound while it comes",
       Method::Lane::kWorker, by(listen), Method::kNoDeadline, 1},
  };
}

}  // namespace moil::daemon
