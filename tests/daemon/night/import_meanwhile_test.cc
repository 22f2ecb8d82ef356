// Photos are labelled while a night begins: it goes on with those of which the daemon has recorded
// what they look like, and leaves the others to the next night.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <thread>

#include "base/files/file.h"
#include "daemon/night/night_job.h"
#include "daemon/spec/job_result.h"
#include "datasets/labels/label_store.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using data::LabelStore;

class ImportMeanwhile : public ::testing::Test {
 protected:
  using Recorder = std::function<void(LabelStore&, std::span<const data::Digest>)>;

  // Labels one more image, as a client would, of which nothing is recorded yet.
  static data::Digest import_one(LabelStore& labels, std::size_t number) {
    const NumberImages one({"new"}, 1, 5000 + number);
    return labels.add_sample(one.encoded(0), std::vector<std::string>{"new"}, data::Split::kTrain)
        .digest;
  }
  // A daemon that hears what the worker says of samples; the recorder, which it uses.
  Json run(const Recorder& recorder) {
    const daemon::JobFile file = place_.job_file(place_.submitted(place_.description()), 1);
    std::filesystem::create_directories(place_.layout().job(file.id));
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    std::thread daemon([&] { hear(ends[0], recorder); });
    std::exception_ptr failed;
    try {
      daemon::EventWriter events(ends[1]);
      const std::atomic<bool> stop{false};
      EXPECT_TRUE(run_night(place_.layout(), file, events, stop));
    } catch (...) {
      failed = std::current_exception();
    }
    ::close(ends[1]);
    daemon.join();
    ::close(ends[0]);
    if (failed) std::rethrow_exception(failed);
    return daemon::finished_result(place_.layout(), file.id, "small", file.version)
        .value()["details"];
  }
  void hear(int descriptor, const Recorder& recorder) {
    LabelStore labels(place_.layout().labels(), LabelStore::Access::kReadWrite);
    std::FILE* in = ::fdopen(::dup(descriptor), "r");
    char* line = nullptr;
    std::size_t room = 0;
    while (::getline(&line, &room, in) > 0) {
      const Json event = parsed_json(line);
      if (event["event"] == "likenesses")
        labels.record_likenesses(daemon::likenesses_from_json(event));
      std::vector<data::Digest> uses;
      if (event["event"] == "uses" && daemon::add_uses(event, uses)) recorder(labels, uses);
    }
    std::free(line);
    std::fclose(in);
  }

  JobPlace place_;
};

TEST_F(ImportMeanwhile, ANightGoesOnWithWhatIsRecorded) {
  {
    LabelStore labels(place_.layout().labels(), LabelStore::Access::kReadWrite);
    import_one(labels, 0);
  }
  std::size_t imported = 1;
  data::Digest last{};
  const Json details = run([&](LabelStore& labels, std::span<const data::Digest> used) {
    last = import_one(labels, imported++);  // one comes with each round
    labels.record_uses(used);
  });
  EXPECT_GE(imported, 3U);
  EXPECT_EQ(details["near_duplicates"]["looked_at"], imported - 1);
  EXPECT_EQ(details["near_duplicates"]["not_known"], 1);
  EXPECT_EQ(details["samples"]["local"], 4 + 4 + imported - 1);
  EXPECT_THAT(read_text(place_.layout().job(1) / "mix.json"),
              ::testing::Not(::testing::HasSubstr(last.hex())));
}

}  // namespace
}  // namespace moil::night
