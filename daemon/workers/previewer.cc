#include "daemon/workers/previewer.h"

#include "base/error.h"
#include "daemon/workers/in_memory.h"
#include "datasets/labels/media_type.h"

namespace moil::daemon {

struct Previewer::Request {
  std::vector<data::Digest> digests;
  int size = 0;
  Json previews = Json::array();    // one a digest
  std::vector<UniqueFd> files;      // of those that a worker looks at
  std::vector<std::size_t> places;  // of each file's sample in `previews`

  void open(const data::LabelStore& labels);

 private:
  void open_one(const data::LabelStore& labels, const data::Digest& digest);
};

namespace {

Json error_entry(ErrorCode code, const std::string& message) {
  return {{"code", to_string(code)}, {"message", message}};
}

UniqueFd opened(const data::LabelStore& labels, const data::SampleRecord& sample) {
  return sample.size > data::kInlineBytes ? labels.open_content(sample.digest)
                                          : in_memory(labels.content(sample.digest));
}

}  // namespace

void Previewer::Request::open_one(const data::LabelStore& labels, const data::Digest& digest) {
  Json& preview = previews.emplace_back(Json{{"digest", digest.hex()}});
  const auto sample = labels.find(digest);
  if (!sample)
    throw Error(ErrorCode::kNotFound, "there is no sample " + digest.hex() + " (any more)");
  preview["name"] = sample->name;
  if (!data::is_image(sample->media_type) && !data::is_sound(sample->media_type))
    throw Error(ErrorCode::kUnimplemented,
                "there is no picture of " + std::string(data::media_name(sample->media_type)));
  files.push_back(opened(labels, *sample));
  places.push_back(previews.size() - 1);
}

void Previewer::Request::open(const data::LabelStore& labels) {
  for (const data::Digest& digest : digests) {
    try {
      open_one(labels, digest);
    } catch (const Error& error) {
      previews.back()["error"] = error_entry(error.code(), error.what());
    } catch (const std::exception& error) {
      previews.back()["error"] = error_entry(ErrorCode::kInternal, error.what());
    }
  }
}

Previewer::Previewer(Background& background, const data::LabelStore& labels, WorkerCalls& calls,
                     const WorkerCommand& command)
    : background_(background), labels_(labels), calls_(calls), command_(command) {}

void Previewer::start(std::vector<data::Digest> digests, int size, const Responder& responder) {
  const auto request = std::make_shared<Request>();
  request->digests = std::move(digests);
  request->size = size;
  background_.submit([this, request, responder]() -> Background::Done {
    request->open(labels_);
    return [this, request, responder] {
      if (!responder.is_open()) return;
      try {
        ask_worker(request, responder);
      } catch (...) {
        responder.error(rpc_error(std::current_exception()));
      }
    };
  });
}

void Previewer::ask_worker(const std::shared_ptr<Request>& request, const Responder& responder) {
  if (request->files.empty()) return responder.result({{"previews", request->previews}});
  std::vector<int> descriptors;
  for (const UniqueFd& file : request->files) descriptors.push_back(file.get());
  WorkerCalls::Answer answer;
  answer.result = [request, responder](const Json& result) {
    const Json& made = result.at("previews");
    for (std::size_t i = 0; i < request->places.size(); ++i)
      request->previews.at(request->places[i]).update(made.at(i));
    responder.result({{"previews", request->previews}});
  };
  answer.error = [responder](std::exception_ptr error) { responder.error(rpc_error(error)); };
  answer.whose = responder;
  calls_.start(command_.preview(descriptors, request->size), std::move(answer));
}

}  // namespace moil::daemon
