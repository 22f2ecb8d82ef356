// label.add: samples are read outside, each with a time of its own, tried by a worker, and added on
// the background thread.
#include "base/files/file.h"
#include "daemon/json/base64.h"
#include "daemon/loop/background.h"
#include "daemon/loop/outside_calls.h"
#include "daemon/methods/label_case.h"
#include "daemon/methods/label_steps.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/sample_content.h"
#include "daemon/methods/split_names.h"
#include "daemon/rpc/limits.h"
#include "daemon/spec/any_file.h"
#include "daemon/workers/in_memory.h"
#include "daemon/workers/trials.h"
#include "datasets/labels/label_store.h"
#include "datasets/labels/media_type.h"

namespace moil::daemon {

using data::Split;

namespace {

// Of so many samples, or, with the last of them, more bytes.
constexpr std::size_t kMostRead = kFilesAtOnce, kMostReadBytes = std::size_t{32} << 20;

struct NewSample {
  std::optional<std::string> content;  // as in SampleParams
  std::optional<int> file;
  std::string name;  // of its file, as the user knows it
};

struct LabelAddParams {
  std::vector<std::string> labels;
  std::optional<Split> split;
  std::vector<NewSample> samples;
  bool as_spelled = false;
  std::string step;
  bool dry_run = false;
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
      field("as_spelled", &LabelAddParams::as_spelled),
      field("step", &LabelAddParams::step, Need::kOptional, check_step),
      field("dry_run", &LabelAddParams::dry_run),
  };
  return table;
}

Json added_json(const data::AddedSample& added) {
  return {{"digest", added.digest.hex()}, {"split", to_string(added.split)}, {"new", added.is_new}};
}

// What added_json() would say.
Json looked_at_json(const data::Digest& digest, const data::LabelStore& labels) {
  return {{"digest", digest.hex()}, {"new", !labels.has(digest)}};
}

// One label.add: some samples after the others, so that it holds few in memory. Files are read
// outside, for their disk may hang; what is new is tried by a worker, which decodes it; then each
// sample is added in the background, and what others ask for there comes in between. A sample that
// cannot be added does not keep the others back: adding is idempotent, so that the whole request
// can be repeated once the cause is gone.
class Adding : public std::enable_shared_from_this<Adding> {
 public:
  // All outlive it.
  struct Surroundings {
    data::LabelStore& labels;
    OutsideCalls& outside;
    Background& background;
    EventLoop& loop;
    Trials& trials;
    const StateLayout& layout;
  };

  Adding(const Surroundings& around, Call& call, Responder responder)
      : s_(around),
        params_(read_fields<LabelAddParams>(call.params, "the parameters of label.add")),
        responder_(std::move(responder)),
        samples_(params_.samples.size()) {
    std::vector<SampleParams> sources;
    for (const NewSample& sample : params_.samples)
      sources.push_back({sample.content, sample.file});
    check_samples("samples", sources, call);
    if (!params_.labels.empty()) labels_ = data::checked_label_names(params_.labels);
    for (UniqueFd& file : call.files) files_.push_back(std::make_shared<UniqueFd>(std::move(file)));
  }

  void start() {
    in_background([self = shared_from_this()] {
      check_case(self->s_.labels, self->labels_, self->params_.as_spelled);
      return [self] { self->read_more(); };
    });
  }

 private:
  // What was read and is not added yet.
  struct Read {
    std::size_t place = 0;  // of the sample in the request
    UniqueFd memory;
    data::Digest digest = {};
    Json said = Json::object();  // by the worker, if it was asked
  };

  // If it throws, nothing more is done.
  void in_background(std::function<Background::Done()> work) {
    s_.background.submit([self = shared_from_this(), work = std::move(work)]() -> Background::Done {
      try {
        return work();
      } catch (...) {
        return
            [self, error = rpc_error(std::current_exception())] { self->responder_.error(error); };
      }
    });
  }

  // Until there are enough bytes for a worker, or no more samples.
  void read_more() {
    if (!responder_.is_open()) return;
    const bool is_full = read_.size() == kMostRead || read_bytes_ >= kMostReadBytes;
    if (is_full || at_ == params_.samples.size()) return sort_out();
    NewSample& sample = params_.samples[at_];
    if (sample.file && hung_) {
      fail(at_, ErrorCode::kIo, "not read, because the one before it hangs");
      return go_on();
    }
    if (sample.file) return read(files_[static_cast<std::size_t>(*sample.file)]);
    try {
      keep(decode_base64(std::exchange(sample.content, {}).value()).value());
      go_on();
    } catch (...) {
      not_read(std::current_exception());
    }
  }

  // Not at once: there may be thousands.
  void go_on() {
    ++at_;
    s_.loop.post([self = shared_from_this()] { self->read_more(); });
  }

  void read(const std::shared_ptr<UniqueFd>& file) {
    using Bytes = std::shared_ptr<const std::vector<std::uint8_t>>;
    const auto self = shared_from_this();
    s_.outside.start<Bytes>(
        [file] {
          return std::make_shared<const std::vector<std::uint8_t>>(
              read_descriptor(file->get(), data::kMaxSampleBytes));
        },
        [self](const Bytes& content) {
          try {
            self->keep(*content);
            self->go_on();
          } catch (...) {
            self->not_read(std::current_exception());
          }
        },
        [self](const std::exception_ptr& error) { self->not_read(error); }, responder_.user());
  }

  void keep(std::span<const std::uint8_t> content) {
    read_bytes_ += content.size();
    read_.push_back({at_, in_memory(content)});
  }

  void not_read(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const GaveUp& e) {
      hung_ = true;
      fail(at_, e.code(), e.what());
    } catch (const Error& e) {
      fail(at_, e.code(), e.what());
    } catch (const std::exception& e) {
      fail(at_, ErrorCode::kInternal, e.what());
    }
    go_on();
  }

  // What is there already was tried when it was added. Of text a table is no more than a look of
  // it.
  void sort_out() {
    in_background([self = shared_from_this()] {
      const auto fresh = std::make_shared<std::vector<std::size_t>>();
      for (std::size_t i = 0; i < self->read_.size(); ++i) {
        Read& sample = self->read_[i];
        const auto content = read_descriptor(sample.memory.get(), data::kMaxSampleBytes);
        sample.digest = data::digest_of(content);
        const std::string_view media = data::media_type_of(content);
        if (data::is_taken(media) && !self->s_.labels.has(sample.digest) &&
            !(media == data::kCsv && self->takes_any_file()))
          fresh->push_back(i);
      }
      return [self, fresh] { self->have_tried(*fresh); };
    });
  }

  void have_tried(const std::vector<std::size_t>& fresh) {
    if (!responder_.is_open()) return;
    const auto self = shared_from_this();
    std::vector<int> descriptors;
    for (const std::size_t i : fresh) descriptors.push_back(read_[i].memory.get());
    s_.trials.start(descriptors, responder_, [self, fresh](const std::vector<Json>& said) {
      for (std::size_t i = 0; i < fresh.size(); ++i) self->read_[fresh[i]].said = said.at(i);
      self->add(0);
    });
  }

  // That of read_, and those behind it.
  void add(std::size_t next) {
    if (next == read_.size()) return added_all();
    const auto self = shared_from_this();
    Read& sample = read_[next];
    if (sample.said.contains("error")) {
      refuse(sample.place, sample.said["error"], sample.digest);
      return s_.loop.post([self, next] { self->add(next + 1); });
    }
    in_background([self, next] {
      const Read& it = self->read_[next];
      const NewSample& asked = self->params_.samples[it.place];
      Background::Done then;
      try {
        const auto content = read_descriptor(it.memory.get(), data::kMaxSampleBytes);
        data::check_sample_content(content);
        if (!data::is_taken(data::media_type_of(content)) && !self->takes_any_file())
          data::check_sample_media(content);
        const Json result =
            self->params_.dry_run
                ? looked_at_json(it.digest, self->s_.labels)
                : added_json(self->s_.labels.add_sample(content, self->labels_, self->params_.split,
                                                        asked.name, self->params_.step));
        then = [self, &it, result] { self->added(it, result); };
      } catch (const Error& error) {
        then = [self, &it, error] { self->fail(it.place, error.code(), error.what(), it.digest); };
      } catch (const std::exception& error) {
        const std::string text = error.what();
        then = [self, &it, text] { self->fail(it.place, ErrorCode::kInternal, text); };
      }
      return [self, next, then] {
        then();
        self->add(next + 1);
      };
    });
  }

  // Asked once; on the background thread.
  bool takes_any_file() {
    if (!takes_any_file_) takes_any_file_ = reads_any_file(s_.layout);
    return *takes_any_file_;
  }

  void added_all() {
    read_.clear();
    read_bytes_ = 0;
    if (at_ < params_.samples.size()) return read_more();
    responder_.result({{"added", added_}, {"failed", failed_}, {"samples", samples_}});
  }

  void added(const Read& sample, const Json& result) {
    added_ += result["new"] == true ? 1 : 0;
    samples_[sample.place] = result;
    samples_[sample.place].update(sample.said);
  }

  // `digest`: of what could be read.
  void fail(std::size_t place, ErrorCode code, const std::string& message,
            const std::optional<data::Digest>& digest = {}) {
    refuse(place, {{"code", to_string(code)}, {"message", message}}, digest);
  }
  void refuse(std::size_t place, const Json& error, const std::optional<data::Digest>& digest) {
    ++failed_;
    samples_[place]["error"] = error;
    if (digest) samples_[place]["digest"] = digest->hex();
  }

  const Surroundings s_;
  LabelAddParams params_;
  std::vector<std::shared_ptr<UniqueFd>> files_;  // shared with the threads that read them
  std::vector<std::string> labels_;
  const Responder responder_;
  std::size_t at_ = 0;  // which sample is read next
  std::vector<Read> read_;
  std::size_t read_bytes_ = 0;
  std::optional<bool> takes_any_file_;
  bool hung_ = false;
  int added_ = 0;
  int failed_ = 0;
  std::vector<Json> samples_;  // what became of each
};

void add_samples(Call& call, const Responder& responder, data::LabelStore& labels,
                 OutsideCalls& outside, Background& background, EventLoop& loop, Trials& trials,
                 const StateLayout& layout) {
  const Adding::Surroundings around{labels, outside, background, loop, trials, layout};
  std::make_shared<Adding>(around, call, responder)->start();
}

}  // namespace

MethodTable label_add_methods(const Parts& by) {
  return {
      {"label.add", "0.1", Role::kLabel, "add samples under labels", Method::Lane::kSteps,
       by.reading<LabelAddParams>(add_samples), std::chrono::seconds(0), kMostFiles},
  };
}

}  // namespace moil::daemon
