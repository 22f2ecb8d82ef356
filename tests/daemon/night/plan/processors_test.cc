// Nights whose training an OpenCL device computes: as good as the CPU's, and none is lost with the
// device. That every run has the same bits is in tests/e2e/processor_nights_test.py.
#include "daemon/night/plan/processors.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>

#include "base/files/file.h"
#include "base/files/unique_fd.h"
#include "daemon/night/night_job.h"
#include "daemon/night/night_plan.h"
#include "daemon/night/stages/night_files.h"
#include "daemon/spec/job_result.h"
#include "engine/model/preparation.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using ::testing::HasSubstr;

class ProcessorNights : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)open_processor("opencl");
    } catch (const ProcessorError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  Json description(const std::string& processors) const {
    Json description = place_.description();
    description["processors"] = processors;
    return description;
  }
  JobTrace night(const std::string& processors) {
    return place_.run(place_.submitted(description(processors)));
  }

  JobPlace place_;
};

double accuracy(const JobTrace& trace, const char* side) {
  return trace.result.at(std::string(side) + "_after").get<double>();
}

TEST_F(ProcessorNights, EndAsTheCpusDo) {
  const JobTrace cpu = night("cpu"), opencl = night("opencl");
  EXPECT_NEAR(accuracy(opencl, "global"), accuracy(cpu, "global"), 0.005);
  EXPECT_NEAR(accuracy(opencl, "local"), accuracy(cpu, "local"), 0.005);
  const Json& told = opencl.result.at("details").at("processors");
  EXPECT_EQ(told.at("method"), "opencl");
  EXPECT_FALSE(told.at("layers").empty());
  EXPECT_EQ(cpu.result.at("details").at("processors").at("method"), "cpu");
}

TEST_F(ProcessorNights, AllMethodsTrain) {
  for (const char* method : {"step_wise", "layer_wise", "path"})
    EXPECT_EQ(night(method).result.at("details").at("processors").at("method"), method);
}

// Measured once; by the same placement the same bits are made, and cached maps are found.
TEST_F(ProcessorNights, FeatureMapsArePlacedOnce) {
  Json asked = description("opencl");
  asked["freeze"] = {{"trainable_layers", 1}};
  const JobTrace first = place_.run(place_.submitted(asked));
  const Json maps = first.result.at("details").at("processors").at("feature_maps");
  EXPECT_EQ(maps.at("method"), "opencl");
  EXPECT_FALSE(maps.at("layers").empty());
  const auto file = place_.layout().profiles() / "processors.json";
  const std::string known = read_text(file);
  const JobTrace second = place_.run(place_.submitted(asked));
  EXPECT_EQ(read_text(file), known);
  EXPECT_EQ(second.weights, first.weights);
}

// The driver's compiler alone is larger than this night. A suite of its own, and so a process: a
// driver that is there already takes nothing more.
class ProcessorNightWithoutDriver : public ProcessorNights {};
TEST_F(ProcessorNightWithoutDriver, ABudgetWithoutRoomIsKeptByTheCpu) {
  Json asked = description("opencl");
  asked["freeze"] = {{"trainable_layers", 1}};
  const daemon::JobSpec spec = place_.submitted(asked);
  const JobTrace free = place_.run(spec);
  const Json record = free.result.at("details").at("processors");
  EXPECT_GT(record.at("driver_bytes").get<std::int64_t>(), 1 << 20);
  const Json needed = plan_job(place_.layout(), place_.job_file(spec, 80), {.check = true});
  asked["memory"] = {
      {"budget_bytes", needed.at("predicted_bytes").get<std::int64_t>() + (1 << 20)}};
  const JobTrace tight = place_.run(place_.submitted(asked));
  const Json told = tight.result.at("details").at("processors");
  EXPECT_EQ(told.at("method"), "cpu");
  EXPECT_THAT(told.at("why").get<std::string>(), HasSubstr("budget_bytes"));
  EXPECT_EQ(told.at("feature_maps").at("method"), "cpu");
  EXPECT_THAT(told.at("feature_maps").at("why").get<std::string>(), HasSubstr("budget_bytes"));
}

TEST_F(ProcessorNights, AJobThatGaveUpStaysWithTheCpu) {
  const daemon::JobSpec spec = place_.submitted(description("opencl"));
  ProcessorChooser chooser(spec, place_.layout().profiles(), "it hung", {});
  const Placement recorded = chooser.recorded_training(given_up("it hung"));
  EXPECT_TRUE(recorded.processors.empty());
  EXPECT_EQ(reason_given_up(recorded.record), "it hung");
  const Json before = {{"asked", "opencl"}, {"method", "opencl"}, {"layers", {{"conv", "GGG"}}}};
  const Json told = given_up("it hung", before);
  EXPECT_EQ(told.at("asked"), "opencl");
  EXPECT_EQ(told.at("until_then"), before);
  const ModelDescription model = prepare_inference(small_bundle().description);
  KernelSelector kernels;
  const Placement maps = chooser.for_maps(model, 4, kernels);
  EXPECT_TRUE(maps.processors.empty());
  EXPECT_EQ(maps.record.at("why"), "it hung");
}

// As moild leaves the folder of a job whose worker a driver has crashed.
TEST_F(ProcessorNights, ADriverThatCrashesIsNotTriedAgain) {
  const daemon::JobSpec spec = place_.submitted(description("opencl"));
  const daemon::JobFile file = place_.job_file(spec, 91);
  const auto& layout = place_.layout();
  const NightFiles files(layout.job(file.id));
  std::filesystem::create_directories(layout.job(file.id));
  write_file_atomic(layout.job_crashed(file.id), std::string_view("measure"));
  write_file_atomic(files.processor_opened(), std::string_view());
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  daemon::EventWriter events(nowhere.get());
  const std::atomic<bool> stop{false};
  ASSERT_TRUE(run_night(layout, file, events, stop));
  const auto result = daemon::finished_result(layout, file.id, "small", file.version);
  const Json told = result->at("details").at("processors");
  EXPECT_EQ(told.at("method"), "cpu");
  EXPECT_THAT(reason_given_up(told), HasSubstr("crashed"));
  EXPECT_FALSE(std::filesystem::exists(files.processor_opened()));

  const auto profiles = layout.profiles();
  ProcessorChooser later(place_.submitted(description("auto")), profiles, "", {});
  const ModelDescription model = prepare_inference(small_bundle().description);
  KernelSelector kernels;
  EXPECT_THAT(reason_given_up(later.for_maps(model, 4, kernels).record),
              HasSubstr("has crashed a night before"));
  ProcessorChooser asked(spec, profiles, "", {});
  EXPECT_FALSE(asked.for_maps(model, 4, kernels).processors.empty()) << "who asks for it gets it";
}

TEST_F(ProcessorNights, ADeviceThatIsNoLongerThereCostsNoNight) {
  ProcessorChooser chooser(place_.submitted(description("opencl")), {}, "", {});
  const Placement gone = chooser.recorded_training(
      {{"method", "opencl"}, {"device", "another"}, {"layers", {{"conv", "GGG"}}}});
  EXPECT_TRUE(gone.processors.empty());
  EXPECT_TRUE(gone.assignment.empty());
  EXPECT_EQ(gone.record.at("method"), "cpu");
  EXPECT_THAT(gone.record.at("why").get<std::string>(), HasSubstr("the night began on another"));
}

TEST_F(ProcessorNights, TheCpuByAnotherNameIsNotChosenByItself) {
  EXPECT_EQ(night("auto").result.at("details").at("processors").at("method"), "cpu");
}

TEST(Processors, AreRefusedWhereSumsMustNotRoundOtherwise) {
  JobPlace place;
  for (const auto& [name, value] : std::map<std::string, Json>{
           {"elastic", Json::object()}, {"deadline_seconds", 600}, {"exact_arithmetic", true}}) {
    Json asked = place.description();
    asked[name] = value;
    asked["processors"] = "opencl";
    try {
      (void)place.submitted(asked);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("/processors")) << name;
    }
  }
}

}  // namespace
}  // namespace moil::night
