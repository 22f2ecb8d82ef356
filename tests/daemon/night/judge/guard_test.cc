#include "daemon/night/judge/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moil::night {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

daemon::GuardSpec guard(double drop, double least = 0) {
  daemon::GuardSpec spec;
  spec.max_global_drop = drop;
  spec.min_local_accuracy = least;
  return spec;
}

Measured measured(double global_before, double global_after, double local_before = 0.1,
                  double local_after = 0.9) {
  Measured m;
  m.global = {global_before, global_after};
  m.local = {local_before, local_after};
  m.global_held_out = 100;
  m.local_held_out = 10;
  m.local_trained = 40;
  return m;
}

// As three nights went that were held against the night before alone: 45.3, 40.6, 35.6, 33.1 %.
TEST(Guard, NightsTogetherCannotLoseMoreThanOneMay) {
  const double imported = 0.453, losses[] = {0.047, 0.050, 0.025};
  double before = imported;
  std::vector<bool> promoted;
  for (const double loss : losses) {
    Measured m = measured(before, before - loss);
    EXPECT_FALSE(objection(guard(0.05), m)) << "the night before alone is no objection";
    if (before != imported) m.anchor = Anchor{1, imported, ""};
    const auto why = objection(guard(0.05), m);
    promoted.push_back(!why);
    if (!why) {
      before -= loss;
      continue;
    }
    EXPECT_THAT(*why, AllOf(HasSubstr("after 45.3 % of version 1"), HasSubstr("5.0 %"),
                            HasSubstr("moilctl model anchor")));
  }
  EXPECT_EQ(promoted, (std::vector<bool>{true, false, false}));
  EXPECT_GE(before, imported - 0.05);
}

TEST(Guard, AnAnchorThatWasNotMeasuredIsNotPassed) {
  Measured m = measured(0.9, 0.9);
  m.anchor = Anchor{3, std::nullopt, "its folder is gone"};
  EXPECT_THAT(objection(guard(0.03), m).value_or(""),
              AllOf(HasSubstr("version 3"), HasSubstr("its folder is gone")));
  EXPECT_FALSE(objection(guard(1), m));
}

// Whatever is said of a night whose global labels are the model's own answers.
TEST(Guard, AgreementWithOwnAnswersIsNeverCalledAccuracy) {
  const auto says_agreement = [](const std::string& text) {
    EXPECT_THAT(text, AllOf(HasSubstr("global agreement"), Not(HasSubstr("global accuracy"))));
  };
  Measured m = measured(1.0, 0.9);
  m.global_is_answered = true;
  const Metric metric = m.global_metric();
  EXPECT_EQ(metric.name, "agreement");
  says_agreement(objection(guard(0.03), m).value_or(""));
  says_agreement(verdict(guard(0.2), m));
  EXPECT_THAT(verdict(guard(0.2), m), HasSubstr("local accuracy"));
  m.anchor = Anchor{1, 1.0, ""};
  says_agreement(objection(guard(0.03), m).value_or(""));
  m.global = {std::nullopt, std::nullopt};
  says_agreement(objection(guard(0.03), m).value_or(""));
  says_agreement(verdict(guard(1), m));
  m.global_tells = false;
  says_agreement(not_measurable(guard(0.03), m)->message);
  m.global_held_out = 0;
  says_agreement(not_measurable(guard(0.03), m)->message);
}

TEST(Guard, ALossIsAllowedUpToItsLimit) {
  EXPECT_FALSE(objection(guard(0.05), measured(0.95, 0.90)));  // 0.0499999...
  EXPECT_FALSE(objection(guard(0.1), measured(0.3, 0.2)));     // 0.0999999...
  EXPECT_THAT(objection(guard(0.05), measured(0.95, 0.89)).value_or(""),
              HasSubstr("would fall from 95.0 % to 89.0 %"));
  EXPECT_FALSE(objection(guard(1), measured(0.74, 0)));
  EXPECT_THAT(objection(guard(1, 0.95), measured(1, 1)).value_or(""),
              HasSubstr("90.0 % of 10 samples held out"));
}

// Not measured is not passed, and it is known before anything is trained.
TEST(Guard, WhatItAsksForMustHaveBeenMeasured) {
  Measured no_global = measured(0.9, 0.9);
  no_global.global = {};
  no_global.global_held_out = 0;
  const auto global = not_measurable(guard(0.03), no_global);
  ASSERT_TRUE(global);
  EXPECT_EQ(global->pointer, "/guard/max_global_drop");
  EXPECT_THAT(global->message, AllOf(HasSubstr("holds out no samples"),
                                     HasSubstr("set guard.max_global_drop to 1")));
  EXPECT_EQ(objection(guard(0.03), no_global), global->message);
  EXPECT_FALSE(objection(guard(1), no_global));

  Measured no_local = measured(0.9, 0.9);
  no_local.local = {};
  no_local.local_held_out = 0;
  const auto local = not_measurable(guard(1, 0.5), no_local);
  ASSERT_TRUE(local);
  EXPECT_EQ(local->pointer, "/guard/min_local_accuracy");
  EXPECT_THAT(local->message, AllOf(HasSubstr("none of 40 samples is held out"),
                                    HasSubstr("guard.min_local_accuracy to 0")));
  EXPECT_EQ(objection(guard(1, 0.5), no_local), local->message);
  EXPECT_FALSE(objection(guard(0.03), no_local)) << "a minimum of 0 asks for nothing";
  no_local.local_trained = 0;
  EXPECT_THAT(objection(guard(1, 0.5), no_local).value_or(""), HasSubstr("no local samples"));
}

TEST(Verdict, TellsWhatWasMeasured) {
  EXPECT_EQ(verdict(guard(0.03), measured(0.97, 0.96)),
            "global accuracy falls from 97.0 % to 96.0 %; local accuracy rises from 10.0 % to "
            "90.0 %");
  EXPECT_EQ(verdict(guard(0.03), measured(0.97, 0.97, 0.5, 1)),
            "global accuracy stays at 97.0 %; local accuracy rises from 50.0 % to 100.0 %");
}

TEST(Verdict, PromisesNothingOfWhatIsNotThere) {
  Measured m = measured(0.97, 0.97);
  m.local = {};
  m.local_held_out = 0;
  EXPECT_THAT(verdict(guard(0.03), m),
              HasSubstr("what was learned of 40 samples was not measured: none is held out"));
  m.local_trained = 0;
  EXPECT_THAT(verdict(guard(0.03), m), HasSubstr("no local samples were learned from"));
  m.global = {};
  m.global_held_out = 0;
  EXPECT_THAT(verdict(guard(1), m), HasSubstr("global accuracy was not measured"));
}

TEST(Verdict, SaysThatTheGuardAllowsAFall) {
  EXPECT_EQ(verdict(guard(1), measured(0.74, 0, 0, 0)),
            "global accuracy falls from 74.0 % to 0.0 % (guard.max_global_drop 1 allows any fall); "
            "local accuracy stays at 0.0 %");
}

TEST(Verdict, NamesClassesThatWereNotLearnedOrNotMeasured) {
  Measured m = measured(0.9, 0.9);
  m.local_classes = {{"cat", 10, 4, 0, 4}, {"dog", 10, 4, 0, 0}, {"owl", 10, 0, 0, 0}};
  EXPECT_THAT(verdict(guard(0.03), m),
              AllOf(HasSubstr("; dog: 0 of 4 held-out samples right;"),
                    HasSubstr("\"owl\" was not measured: no sample of it is held out"),
                    Not(HasSubstr("cat"))));
  for (int i = 0; i < 7; ++i) m.local_classes.push_back({"bird " + std::to_string(i), 1, 0, 0, 0});
  EXPECT_THAT(verdict(guard(0.03), m), HasSubstr("\"bird 3\" and 3 more were not measured"));
}

}  // namespace
}  // namespace moil::night
