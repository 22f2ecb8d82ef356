// What was acknowledged survives kill -9: a child adds and removes samples and says so through a
// pipe, the parent kills it in the middle, opens the store and compares.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "datasets/labels/label_store.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;

std::string content_of(int i) {
  return test::photo(std::to_string(i)) + std::string(i % 3 ? 10 : kInlineBytes + 10, 'x');
}

[[noreturn]] void work(const std::filesystem::path& folder, int pipe, int first) {
  try {
    LabelStore store(folder, LabelStore::Access::kReadWrite);
    const std::vector<std::string> labels = {"label"};
    for (int i = first;; ++i) {
      store.add_sample(bytes_of(content_of(i)), labels);
      if (::write(pipe, &i, sizeof i) != sizeof i) ::_exit(1);
      if (i % 4 != 0) continue;
      store.forget(digest_of(content_of(i)));
      const int gone = -i;
      if (::write(pipe, &gone, sizeof gone) != sizeof gone) ::_exit(1);
    }
  } catch (...) {
    ::_exit(2);
  }
}

// Runs a child until it acknowledged `count` changes, kills it, returns all that it acknowledged.
std::vector<int> run_and_kill(const std::filesystem::path& folder, int first, std::size_t count) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) work(folder, ends[1], first);
  ::close(ends[1]);
  std::vector<int> acknowledged;
  int value = 0;
  while (::read(ends[0], &value, sizeof value) == sizeof value) {
    acknowledged.push_back(value);
    if (acknowledged.size() == count) ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  return acknowledged;
}

TEST(LabelStoreCrash, WhatWasAcknowledgedSurvivesKill) {
  test::TempFolder folder;
  std::map<int, bool> expected;
  int first = 1;
  for (int round = 0; round < 8; ++round) {
    const auto changes = run_and_kill(folder / "labels", first, 3 + round * 2);
    ASSERT_FALSE(changes.empty());
    for (const int change : changes) expected[std::abs(change)] = change > 0;
    first = expected.rbegin()->first + 2;
    const LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
    for (const auto& [i, present] : expected) {
      // The last addition of a round may have been followed by its unacknowledged removal.
      if (i == std::abs(changes.back()) && i % 4 == 0 && present) continue;
      EXPECT_EQ(store.find(digest_of(content_of(i))).has_value(), present) << i;
    }
    store.for_each_sample({}, [&](const SampleRecord& sample) {
      EXPECT_EQ(digest_of(store.content(sample.digest)), sample.digest);
    });
    std::erase_if(expected, [](const auto& entry) { return entry.first % 4 == 0 && entry.second; });
  }
}

}  // namespace
}  // namespace moil::data
