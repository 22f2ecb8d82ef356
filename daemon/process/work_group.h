// Control groups for the daemon and its workers apart: if the service's own group is delegated
// to it, moild goes into the group "daemon" below it and workers into "work", which gets the
// service's limits of memory less some room. A worker that uses up its memory is then slowed down,
// or ends, alone: in one group the kernel slows down whoever is there.
//
// Called once, before other threads are started.
#pragma once

#include <filesystem>
#include <string>

namespace moil::daemon {

// Workers that are started from now on begin in their group. What was done, for the log; empty if
// the group is not delegated (moild was started by hand, or by another unit). root: where proc and
// sys are.
std::string divide_group(const std::filesystem::path& root = "/");

// For who starts workers: the group's file into which a process writes "0" to enter; below 0 if
// there is none.
int work_group();

}  // namespace moil::daemon
