// label.add: samples are read outside, each with a time of its own, and added on the background
// thread.
#include "base/files/file.h"
#include "daemon/json/base64.h"
#include "daemon/loop/background.h"
#include "daemon/loop/outside_calls.h"
#include "daemon/methods/label_steps.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/sample_content.h"
#include "daemon/methods/split_names.h"
#include "daemon/rpc/limits.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

using data::Split;

namespace {

struct NewSample {
  std::optional<std::string> content;  // as in SampleParams
  std::optional<int> file;
  std::string name;  // of its file, as the user knows it
};

struct LabelAddParams {
  std::vector<std::string> labels;
  std::optional<Split> split;
  std::vector<NewSample> samples;
  std::string step;
};

const Fields<NewSample>& fields_of(const NewSample*) {
  static const Fields<NewSample> table = {
      field("content", &NewSample::content),
      field("file", &NewSample::file),
      field("name", &NewSample::name),
  };
  return table;
}

const Fields<LabelAddParams>& fields_of(const LabelAddParams*) {
  static const Fields<LabelAddParams> table = {
      field("labels", &LabelAddParams::labels),
      field("split", &LabelAddParams::split),
      field("samples", &LabelAddParams::samples, Need::kRequired),
      field("step", &LabelAddParams::step, Need::kOptional, check_step),
  };
  return table;
}

Json added_json(const data::AddedSample& added) {
  return {{"digest", added.digest.hex()}, {"split", to_string(added.split)}, {"new", added.is_new}};
}

// One label.add: a sample after the other, so that it holds one in memory. Files are read outside,
// for their disk may hang; each sample is added in the background, and what others ask for there
// comes in between. A sample that cannot be added does not keep the others back: adding is
// idempotent, so that the whole request can be repeated once the cause is gone.
class Adding : public std::enable_shared_from_this<Adding> {
 public:
  using Content = std::shared_ptr<const std::vector<std::uint8_t>>;

  // All outlive it.
  struct Surroundings {
    data::LabelStore& labels;
    OutsideCalls& outside;
    Background& background;
    EventLoop& loop;
  };

  Adding(const Surroundings& around, Call& call, Responder responder)
      : s_(around),
        params_(read_fields<LabelAddParams>(call.params, "the parameters of label.add")),
        responder_(std::move(responder)) {
    std::vector<SampleParams> sources;
    for (const NewSample& sample : params_.samples)
      sources.push_back({sample.content, sample.file});
    check_samples("samples", sources, call);
    if (!params_.labels.empty()) labels_ = data::checked_label_names(params_.labels);
    for (UniqueFd& file : call.files) files_.push_back(std::make_shared<UniqueFd>(std::move(file)));
  }

  // The next sample, or the answer after the last.
  void next() {
    if (at_ == params_.samples.size()) {
      return responder_.result(
          {{"added", added_}, {"failed", failed_}, {"samples", std::move(samples_)}});
    }
    NewSample& sample = params_.samples[at_];
    if (!sample.file) {
      auto bytes = decode_base64(std::exchange(sample.content, {}).value()).value();
      return add(std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes)));
    }
    if (hung_) return fail(ErrorCode::kIo, "not read, because the one before it hangs");
    read(files_[static_cast<std::size_t>(*sample.file)]);
  }

 private:
  void read(const std::shared_ptr<UniqueFd>& file) {
    const auto self = shared_from_this();
    s_.outside.start<Content>(
        [file]() -> Content {
          return std::make_shared<const std::vector<std::uint8_t>>(
              read_descriptor(file->get(), data::kMaxSampleBytes));
        },
        [self](const Content& content) { self->add(content); },
        [self](const std::exception_ptr& error) { self->not_read(error); }, responder_.user());
  }

  void not_read(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const GaveUp& e) {
      hung_ = true;
      fail(e.code(), e.what());
    } catch (const Error& e) {
      fail(e.code(), e.what());
    } catch (const std::exception& e) {
      fail(ErrorCode::kInternal, e.what());
    }
  }

  void add(const Content& content) {
    const auto self = shared_from_this();
    s_.background.submit([self, content]() -> Background::Done {
      try {
        const auto result =
            self->s_.labels.add_sample(*content, self->labels_, self->params_.split,
                                       self->params_.samples[self->at_].name, self->params_.step);
        return [self, result] { self->added(result); };
      } catch (const Error& error) {
        const Json digest = data::digest_of(*content).hex();
        return [self, error, digest] { self->fail(error.code(), error.what(), digest); };
      } catch (const std::exception& error) {
        const std::string text = error.what();
        return [self, text] { self->fail(ErrorCode::kInternal, text); };
      }
    });
  }

  void added(const data::AddedSample& result) {
    added_ += result.is_new ? 1 : 0;
    done(added_json(result));
  }

  // `digest`: of what could be read.
  void fail(ErrorCode code, const std::string& message, const Json& digest = nullptr) {
    ++failed_;
    Json sample{{"error", {{"code", to_string(code)}, {"message", message}}}};
    if (!digest.is_null()) sample["digest"] = digest;
    done(std::move(sample));
  }

  void done(Json sample) {
    samples_.push_back(std::move(sample));
    ++at_;
    s_.loop.post([self = shared_from_this()] { self->next(); });
  }

  const Surroundings s_;
  LabelAddParams params_;
  std::vector<std::shared_ptr<UniqueFd>> files_;  // shared with the threads that read them
  std::vector<std::string> labels_;
  const Responder responder_;
  std::size_t at_ = 0;
  bool hung_ = false;
  int added_ = 0;
  int failed_ = 0;
  Json samples_ = Json::array();
};

void add_samples(Call& call, const Responder& responder, data::LabelStore& labels,
                 OutsideCalls& outside, Background& background, EventLoop& loop) {
  const Adding::Surroundings around{labels, outside, background, loop};
  std::make_shared<Adding>(around, call, responder)->next();
}

}  // namespace

MethodTable label_add_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"label.add", "0.1", Role::kLabel, "add samples under labels", Lane::kSteps,
       by.reading<LabelAddParams>(add_samples), std::chrono::seconds(0), kMostFiles},
  };
}

}  // namespace moil::daemon
