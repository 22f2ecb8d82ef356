#include "engine/elastic/profiles_in_force.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace moil {
namespace {

// A layer; a step of ten seconds.
ProfileInForce from(std::int64_t epoch, double forward = 2) {
  ProfileInForce p;
  p.epoch = epoch;
  LayerTiming layer;
  layer.layer = "a";
  layer.forward = forward;
  p.profile.layers = {layer};
  p.profile.forward = forward;
  p.profile.step = 10;
  p.overhead = {.read = 1, .choose = 3, .probe = 2};
  return p;
}

ElasticInterval took(double measured, double predicted = 8) {
  ElasticInterval i;
  i.step_seconds = predicted;
  i.measured_step_seconds = measured;
  return i;
}

TEST(ProfilesInForce, OneIsNeeded) { EXPECT_THROW(ProfilesInForce({}), Error); }

TEST(ProfilesInForce, EachIsUsedFromItsEpochOn) {
  ProfilesInForce profiles({from(0, 1), from(4, 2), from(6, 3)});
  EXPECT_EQ(profiles.present().profile.forward, 1);
  profiles.use_of(3);
  EXPECT_EQ(profiles.present().profile.forward, 1);
  profiles.use_of(4);
  EXPECT_EQ(profiles.present().profile.forward, 2);
  profiles.use_of(9);
  EXPECT_EQ(profiles.present().profile.forward, 3);
  EXPECT_EQ(profiles.first().profile.forward, 1);
}

TEST(ProfilesInForce, ADriftMakesAnother) {
  ProfilesInForce profiles({from(0)});
  profiles.follow_speed(3, took(12), 1, {});
  ASSERT_EQ(profiles.all().size(), 2U);
  EXPECT_EQ(profiles.present().epoch, 0);  // until it is used
  profiles.use_of(3);
  EXPECT_EQ(profiles.present().epoch, 3);
  EXPECT_EQ(profiles.present().why, "drift");
  EXPECT_DOUBLE_EQ(profiles.present().profile.step, 15);
  EXPECT_DOUBLE_EQ(profiles.present().overhead->read, 1.5);
  EXPECT_DOUBLE_EQ(profiles.present().overhead->choose, 4.5);
  EXPECT_DOUBLE_EQ(profiles.present().overhead->probe, 3);
}

TEST(ProfilesInForce, ADriftIsOfAllPassesOfAStep) {
  ProfilesInForce profiles({from(0)});
  profiles.follow_speed(3, took(16), 2, {});
  EXPECT_EQ(profiles.all().size(), 1U);
}

TEST(ProfilesInForce, WhatWasTrainedTellsTheDriftOfItsParts) {
  ProfilesInForce profiles({from(0)});
  profiles.follow_speed(3, took(12), 1, {{{0, StepKind::kForward}, 6.0}});
  ASSERT_EQ(profiles.all().size(), 2U);
  EXPECT_DOUBLE_EQ(profiles.all()[1].profile.layers[0].forward, 6);
}

TEST(ProfilesInForce, AStepThatTellsLittleMakesNone) {
  ProfilesInForce profiles({from(0)});
  profiles.follow_speed(3, took(8.8), 1, {});     // near enough
  profiles.follow_speed(3, took(0), 1, {});       // none was trained
  profiles.follow_speed(3, took(3, 0.9), 1, {});  // behind maps
  EXPECT_EQ(profiles.all().size(), 1U);
}

TEST(ProfilesInForce, WhatIsKnownOfAnEpochIsNotMeasuredAgain) {
  ProfilesInForce profiles({from(0), from(3)});
  profiles.follow_speed(3, took(80), 1, {});
  EXPECT_EQ(profiles.all().size(), 2U);
}

}  // namespace
}  // namespace moil
