// What nobody can measure is known by its labels, before a night computes anything.
#include "daemon/night/judge/measurable.h"

#include <gmock/gmock.h>

#include "datasets/pack/sample_pack.h"
#include "engine/train/task.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using ::testing::HasSubstr;
using Labels = std::vector<std::vector<data::ClassId>>;  // of each sample

std::vector<data::MixedSample> held_out_of(data::Source source, const Labels& labels) {
  std::vector<data::MixedSample> samples;
  for (std::size_t i = 0; i < labels.size(); ++i)
    samples.push_back({{source, i}, data::digest_of(std::to_string(i)), labels[i]});
  return samples;
}

struct Case {
  std::string task;
  std::vector<std::string> classes;
  Labels global, local;
  bool global_tells, local_tells;
};

// Every task, with labels that differ and labels that do not.
TEST(Measurable, EachTaskKnowsByLabelsAloneWhatCannotBeTold) {
  const std::vector<Case> cases = {
      {"classify", {"a", "b"}, {{0}, {0}}, {{1}}, true, true},
      {"tag", {"a", "b"}, {{0}, {0}, {0}}, {{0}, {0}}, false, false},
      {"tag", {"a", "b"}, {{0}, {0}, {1}}, {{0}, {0}}, true, true},
      {"tag", {"a", "b"}, {{0, 1}, {0, 1}}, {{0}, {1}}, false, true},
      {"predict", {"1", "2"}, {{0}, {0}, {0}}, {{0}, {1}}, false, true},
      {"predict", {"1", "2"}, {{0}, {0}, {1}}, {{1}}, true, false},
  };
  for (const Case& c : cases) {
    data::Mix mix;
    mix.classes = c.classes;
    mix.global_classes = c.classes.size();
    mix.global_validation = held_out_of(data::Source::kGlobal, c.global);
    mix.local_validation = held_out_of(data::Source::kLocal, c.local);
    StoredModel base;
    base.task = task_from_json({{"task", c.task}});
    base.labels = c.task == "predict" ? std::vector<std::string>{"number"} : c.classes;
    const Measured found = measurable(mix, base);
    EXPECT_EQ(found.global_tells, c.global_tells) << c.task << ", of " << c.global.size();
    EXPECT_EQ(found.local_tells, c.local_tells) << c.task << ", of " << c.local.size();
  }
}

// As NumberImages, with none but the first class held out.
class OneClassHeldOut : public NumberImages {
 public:
  OneClassHeldOut() : NumberImages({"a", "b", "c"}, 0) {
    for (data::ClassId k = 0; k < 3; ++k)
      for (int i = 0; i < 8; ++i)
        table_.add({k}, k == 0 && i > 4 ? data::Split::kValidation : data::Split::kTrain);
  }
};

TEST(Measurable, AGuardThatNobodyCanAnswerIsRefusedWhenSubmitted) {
  ModelBundle tags = small_bundle();
  tags.task = task_from_json({{"task", "tag"}});
  JobPlace place(5, tags);
  data::write_sample_pack(place.folder("alike"), OneClassHeldOut(), tags.kind);
  Json description = place.description();
  description["guard"]["max_global_drop"] = 0.03;
  EXPECT_NO_THROW((void)place.submitted(description));
  description["global"]["pack"] = place.folder("alike").string();
  std::string text;
  EXPECT_EQ(error_of([&] { (void)place.submitted(description); }, &text),
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(text, AllOf(HasSubstr("/guard/max_global_drop"), HasSubstr("AUC"),
                          HasSubstr("3 samples that the global pack holds out")));
  description["guard"]["max_global_drop"] = 1;
  EXPECT_NO_THROW((void)place.run(place.submitted(description)));
}

}  // namespace
}  // namespace moil::night
