// The OpenCL processor itself: how it is found, what it keeps, and what it says if it fails.
#include "tests/engine/opencl/opencl_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files/file.h"
#include "engine/model/preparation.h"
#include "tests/engine/device/mixed_networks.h"
#include "tests/engine/model/models.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

using namespace moil::test;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::unique_ptr<ProcessorStep> relu_on(Processor& processor) {
  return processor.make_step(operation::Activation{ActivationKind::kRelu, 0, 16},
                             StepKind::kForward);
}

TEST(OpenclDevice, AnUnknownProcessorIsRefusedWithTheKnownOnes) {
  expect_error(ErrorCode::kInvalidArgument, "known: cpu, opencl",
               [] { (void)open_processor("abacus"); });
}

TEST(OpenclDevice, ANameThatNoDeviceHasIsRefusedWithTheDevices) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  EXPECT_THAT(opencl_device({.device = "no such device"}).missing,
              HasSubstr("no device is called \"no such device\"; there are: "));
}

TEST(OpenclDevice, BuiltProgramsAreKeptAndTakenAgain) {
  const ScratchFolder folder;
  const OpenclDevice first = opencl_device({.cache_folder = folder.path()});
  MOIL_NEEDS_OPENCL(first);
  ASSERT_NE(relu_on(*first.processor), nullptr);
  const auto files = folder.files();
  ASSERT_FALSE(files.empty());
  const auto times = [&] {
    std::vector<fs::file_time_type> found;
    for (const auto& file : files) found.push_back(fs::last_write_time(file));
    return found;
  };
  const auto before = times();
  ASSERT_NE(relu_on(*opencl_device({.cache_folder = folder.path()}).processor), nullptr);
  EXPECT_EQ(times(), before);
}

TEST(OpenclDevice, ADamagedProgramIsBuiltAnew) {
  const ScratchFolder folder;
  const OpenclDevice first = opencl_device({.cache_folder = folder.path()});
  MOIL_NEEDS_OPENCL(first);
  ASSERT_NE(relu_on(*first.processor), nullptr);
  for (const fs::path& file : folder.files()) {
    auto bytes = read_file(file, 64 << 20);
    bytes[bytes.size() / 2] ^= 0xff;
    write_file_atomic(file, bytes);
  }
  ASSERT_NE(relu_on(*opencl_device({.cache_folder = folder.path()}).processor), nullptr);
  for (const fs::path& file : folder.files()) fs::resize_file(file, 5);
  ASSERT_NE(relu_on(*opencl_device({.cache_folder = folder.path()}).processor), nullptr);
}

// Programs of a driver that was replaced, again and again.
TEST(OpenclDevice, TheOldestProgramsGo) {
  const ScratchFolder folder;
  const OpenclDevice device = opencl_device({.cache_folder = folder.path()});
  MOIL_NEEDS_OPENCL(device);
  const auto now = fs::file_time_type::clock::now();
  for (int age = 1; age <= 100; ++age) {
    const fs::path file = folder / (std::to_string(age) + ".clbin");
    write_file_atomic(file, std::vector<std::uint8_t>(16));
    fs::last_write_time(file, now - std::chrono::hours(age));
  }
  ASSERT_NE(relu_on(*device.processor), nullptr);
  EXPECT_EQ(folder.files().size(), 64U);
  EXPECT_TRUE(fs::exists(folder / "1.clbin"));
  EXPECT_FALSE(fs::exists(folder / "100.clbin"));
  const OpenclDevice again = opencl_device({.cache_folder = folder.path()});
  ASSERT_NE(relu_on(*again.processor), nullptr);
  EXPECT_TRUE(fs::exists(folder / "1.clbin"));  // what was found kept was not written again
}

TEST(OpenclDevice, AFolderThatCannotBeWrittenCostsTheCacheAlone) {
  const OpenclDevice device = opencl_device({.cache_folder = "/proc/no/such/folder"});
  MOIL_NEEDS_OPENCL(device);
  EXPECT_NE(relu_on(*device.processor), nullptr);
}

// A library that does not load, as a driver may leave behind that was half removed.
TEST(OpenclDeviceDeathTest, ADriverThatDoesNotLoadIsNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const ScratchFolder folder;
  write_file_atomic(folder / "broken.icd", "/no/such/library.so\n");
  const auto opens_with_broken_driver = [&] {
    ::setenv("OCL_ICD_VENDORS", folder.path().c_str(), 1);
    const std::string missing = opencl_device().missing;
    std::fputs(missing.c_str(), stderr);
    fs::remove_all(folder.path());
    std::_Exit(missing.empty() ? 0 : 7);
  };
  EXPECT_EXIT(opens_with_broken_driver(), ::testing::ExitedWithCode(7),
              "no driver is installed|this build has no OpenCL");
}

std::string why_it_was_lost() {
  const OpenclDevice device = opencl_device({.answer_seconds = 0});
  const ModelDescription model = ModelBuilder({64, 64, 64}).conv(128, 3).conv(128, 3).model();
  NetworkOptions options{.batch = 4, .plan = {}};
  options.plan.processors = {device.processor};
  for (const auto& layer : model.layers) options.plan.assignment[layer.name] = {kSecondProcessor};
  KernelSelector kernels = fixed_kernels();
  Network network(model, options, kernels);
  try {
    network.allocate();
    network.load(random_weights(model, 1));
    network.forward();
    network.finish();
    return "it answered at once";
  } catch (const ProcessorError& error) {
    return error.what();
  }
}

// Nobody waits for it longer than was said, nor for its objects to be freed. Its driver is still at
// work when the process ends.
TEST(OpenclDeviceDeathTest, ADeviceThatDoesNotAnswerInTimeIsLost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  const auto lose_one = [] {
    std::fputs(why_it_was_lost().c_str(), stderr);
    std::exit(7);
  };
  EXPECT_EXIT(lose_one(), ::testing::ExitedWithCode(7), "did not answer");
}

// What runs is what was planned, to the transfer.
TEST(OpenclDevice, AStepHandsOverAsOftenAsThePlanSays) {
  for (const bool shares : {true, false}) {
    const OpenclDevice device = opencl_device({.share_memory = shares});
    MOIL_NEEDS_OPENCL(device);
    const ModelDescription model = residual_model();
    const ModelDescription prepared = test::prepared(model);
    NetworkOptions options{.batch = 2, .plan = {}};
    options.plan.training = true;
    options.plan.trainable = trainable_weights(model, nullptr);
    options.plan.processors = {device.processor};
    int number = 0;
    for (const auto& layer : prepared.layers)
      if (++number % 3 != 0)
        options.plan.assignment[layer.name] = {
            kSecondProcessor, number % 2 == 0 ? kSecondProcessor : kCpu, kSecondProcessor, kCpu};
    SCOPED_TRACE(shares ? "shared" : "copied");
    expect_planned_transfers(prepared, options);
  }
}

}  // namespace
}  // namespace moil
