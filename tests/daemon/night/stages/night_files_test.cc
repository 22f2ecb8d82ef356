#include "daemon/night/stages/night_files.h"

#include "base/files/file.h"
#include "daemon/night/plan/kernel_profile.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

TEST(NightFiles, NothingAtFirst) {
  const TempFolder temp;
  const NightFiles files(temp / "");
  EXPECT_FALSE(files.load_mix());
  EXPECT_FALSE(files.load_choices());
  EXPECT_TRUE(files.load_seconds().empty());
}

TEST(NightFiles, KeepsWhatWasSaved) {
  const TempFolder temp;
  const NightFiles files(temp / "");
  files.save_choices({{{"conv a", "native/gemm"}}, 3, nullptr, HeadChoice{5, 0.625}, true});
  files.save_seconds({{"train", 2.5}});
  const auto choices = files.load_choices();
  ASSERT_TRUE(choices);
  EXPECT_EQ(choices->threads, 3);
  EXPECT_EQ(choices->kernels.at("conv a"), "native/gemm");
  ASSERT_TRUE(choices->head);
  EXPECT_EQ(choices->head->trained_units, 5);
  EXPECT_EQ(choices->head->rho, 0.625);
  EXPECT_TRUE(choices->head_is_final);
  EXPECT_EQ(files.load_seconds().at("train"), 2.5);
  std::filesystem::create_directories(files.trial(2));
  write_file_atomic(NightFiles(files.trial(2)).checkpoint(), std::string_view("weights"));
  files.remove_training();
  EXPECT_TRUE(std::filesystem::exists(files.trial(2)));
  files.remove_all();
  EXPECT_FALSE(files.load_choices());
  EXPECT_FALSE(std::filesystem::exists(files.trials())) << "it learned from the same samples";
}

TEST(NightFiles, ForgetsWhatKilledAttemptsDidNotFinish) {
  const TempFolder temp;
  const NightFiles files(temp / "");
  for (const auto& path : {files.checkpoint(), files.soft_targets()}) {
    write_file_atomic(path, std::string_view("whole"));
    write_file_atomic(path.string() + ".tmp.17.0", std::string_view("half"));
  }
  files.remove_unfinished();
  for (const auto& path : {files.checkpoint(), files.soft_targets()}) {
    EXPECT_EQ(read_text(path), "whole");
    EXPECT_FALSE(std::filesystem::exists(path.string() + ".tmp.17.0"));
  }
}

TEST(NightFiles, DamageIsAnError) {
  const TempFolder temp;
  write_file_atomic(temp / "mix.json", std::string_view("{\"classes\": ["));
  EXPECT_EQ(error_of([&] { (void)NightFiles(temp / "").load_mix(); }), ErrorCode::kBadData);
}

TEST(KernelProfile, FirstChoiceStays) {
  const TempFolder temp;
  const auto file = temp / "profiles/kernels.json";
  EXPECT_TRUE(load_kernel_profile(file).choices.empty());
  save_kernel_profile(file, {{{"a", "native/gemm"}}, {{"x", "1"}}});
  save_kernel_profile(file, {{{"a", "onednn/direct"}, {"b", "openblas/gemm"}}, {{"y", "2"}}});
  const KernelProfile kept = load_kernel_profile(file);
  EXPECT_EQ(kept.choices, (KernelChoices{{"a", "native/gemm"}, {"b", "openblas/gemm"}}));
  EXPECT_EQ(kept.answers, (std::map<std::string, std::string>{{"x", "1"}, {"y", "2"}}));
}

TEST(KernelProfile, AnotherBuildsOrProcessorsProfileIsIgnored) {
  const TempFolder temp;
  const auto file = temp / "kernels.json";
  save_kernel_profile(file, {{{"a", "native/gemm"}}, {}});
  const auto own = parsed_json(read_text(file));
  for (const char* member : {"version", "machine"}) {
    nlohmann::json other = own;
    other[member] = "another";
    write_file_atomic(file, other.dump());
    EXPECT_TRUE(load_kernel_profile(file).choices.empty()) << member;
  }
  for (const char* damage : {"not json", "[]", "{}"}) {
    write_file_atomic(file, std::string_view(damage));
    EXPECT_TRUE(load_kernel_profile(file).choices.empty()) << damage;
  }
}

}  // namespace
}  // namespace moil::night
