#include "engine/device/hand_over.h"

#include <gtest/gtest.h>

namespace moil {
namespace {

constexpr bool kHost = false, kProcessor = true;
constexpr Touch kReads{0, false, false}, kWrites{0, true, false}, kOverwrites{0, true, true};

bool is(const Move& move, Transfer transfer, bool contents) {
  return move.transfer == transfer && (transfer == Transfer::kNone || move.contents == contents);
}

TEST(HandOver, WhatIsNobodysGoesToTheProcessorWithoutATransfer) {
  for (const bool shares : {true, false}) {
    HandOver state(1, shares);
    EXPECT_TRUE(is(state.touch(kOverwrites, kProcessor), Transfer::kNone, false));
    EXPECT_TRUE(is(state.touch(kReads, kProcessor), Transfer::kNone, false));
  }
}

TEST(HandOver, OneThatHoldsARangeTouchesItFreely) {
  HandOver state(1, true);
  state.touch(kOverwrites, kHost);
  EXPECT_TRUE(is(state.touch(kWrites, kHost), Transfer::kNone, false));
  EXPECT_TRUE(is(state.touch(kReads, kHost), Transfer::kNone, false));
}

TEST(HandOver, ContentsGoToAndFro) {
  for (const bool shares : {true, false}) {
    HandOver state(1, shares);
    state.touch(kOverwrites, kHost);
    EXPECT_TRUE(is(state.touch(kWrites, kProcessor), Transfer::kTake, true));
    EXPECT_TRUE(is(state.touch(kWrites, kHost), Transfer::kGive, true));
    EXPECT_TRUE(is(state.touch(kWrites, kProcessor), Transfer::kTake, true));
  }
}

TEST(HandOver, BothReadWhatTheProcessorGaveForReading) {
  for (const bool shares : {true, false}) {
    HandOver state(1, shares);
    state.touch(kOverwrites, kProcessor);
    EXPECT_TRUE(is(state.touch(kReads, kHost), Transfer::kGive, true));
    EXPECT_TRUE(is(state.touch(kReads, kProcessor), Transfer::kNone, true));
    EXPECT_TRUE(is(state.touch(kReads, kHost), Transfer::kNone, true));
  }
}

TEST(HandOver, AWriterEndsReadingTogetherAtACostOnSharedMemoryAlone) {
  for (const bool shares : {true, false}) {
    for (const bool writer : {kHost, kProcessor}) {
      HandOver state(1, shares);
      state.touch(kOverwrites, kProcessor);
      state.touch(kReads, kHost);
      const Transfer transfer = writer == kHost ? Transfer::kGive : Transfer::kTake;
      EXPECT_TRUE(is(state.touch(kWrites, writer), shares ? transfer : Transfer::kNone, true));
      // The other one's is out of date.
      EXPECT_TRUE(is(state.touch(kReads, !writer),
                     writer == kHost ? Transfer::kTake : Transfer::kGive, true));
    }
  }
}

TEST(HandOver, AProcessorWithMemoryOfItsOwnReadsACopyBesideTheCpu) {
  HandOver copies(1, false), shared(1, true);
  for (HandOver* state : {&copies, &shared}) {
    state->touch(kOverwrites, kHost);
    EXPECT_TRUE(is(state->touch(kReads, kProcessor), Transfer::kTake, true));
  }
  EXPECT_TRUE(is(copies.touch(kReads, kHost), Transfer::kNone, true));
  EXPECT_TRUE(is(shared.touch(kReads, kHost), Transfer::kGive, true));
}

TEST(HandOver, WhatIsOverwrittenIsNotCopied) {
  HandOver copies(1, false), shared(1, true);
  for (HandOver* state : {&copies, &shared}) state->touch(kOverwrites, kProcessor);
  EXPECT_TRUE(is(copies.touch(kOverwrites, kHost), Transfer::kNone, false));
  EXPECT_TRUE(is(shared.touch(kOverwrites, kHost), Transfer::kGive, false));
}

TEST(HandOver, TheHostGoesOnWithWhatItHas) {
  HandOver copies(1, false), shared(1, true);
  EXPECT_TRUE(is(copies.adopt(0), Transfer::kNone, false));
  EXPECT_TRUE(is(shared.adopt(0), Transfer::kGive, true));
  for (HandOver* state : {&copies, &shared})
    EXPECT_TRUE(is(state->touch(kWrites, kProcessor), Transfer::kTake, true));
}

TEST(HandOver, ARetiredRangeIsNobodys) {
  HandOver state(1, true);
  EXPECT_FALSE(state.retire(0));
  state.touch(kOverwrites, kHost);
  EXPECT_TRUE(state.retire(0));
  EXPECT_TRUE(state.is_nobodys(0));
  EXPECT_TRUE(is(state.touch(kOverwrites, kProcessor), Transfer::kNone, false));
}

}  // namespace
}  // namespace moil
