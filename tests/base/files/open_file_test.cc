#include "base/files/open_file.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/files/unique_fd.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

TEST(OpenFile, WhatIsNotThereIsSaid) {
  EXPECT_LT(open_file("/nowhere/at/all", O_RDONLY), 0);
  EXPECT_EQ(errno, ENOENT);
}

// A pipe without a writer holds up whoever opens it, as a slow disk does; a signal interrupts that.
TEST(OpenFile, GoesOnWhereASignalInterrupts) {
  const test::ScratchFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  struct sigaction action {};
  action.sa_handler = [](int) {};  // without SA_RESTART
  struct sigaction before {};
  ::sigaction(SIGUSR1, &action, &before);
  std::atomic<int> opened = -2;
  std::thread opener([&] {
    const UniqueFd fd(open_file(pipe, O_RDONLY));
    opened = fd.get();
  });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::pthread_kill(opener.native_handle(), SIGUSR1);
  }
  EXPECT_EQ(opened, -2) << "it still waits";
  const UniqueFd writer(open_file(pipe, O_WRONLY));
  opener.join();
  EXPECT_GE(opened, 0);
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace moil
