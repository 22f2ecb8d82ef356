// Loops over threads: one pool (OpenMP's), static splits, no allocation.
//
// A loop is cut into contiguous parts whose number depends only on the count, the grain and
// thread_count(); so a sum that is gathered part by part comes out the same in every run.
// May be called from inside a parallel body: the parts then run one after the other. Bodies must
// not throw. Vectorised code (Highway) takes ranges and is called from bodies.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace moil {

// Threads that loops use: OMP_NUM_THREADS, or what set_thread_count() said.
inline int thread_count() { return std::max(1, omp_get_max_threads()); }
inline void set_thread_count(int threads) { omp_set_num_threads(std::max(1, threads)); }

// Parts that parallel_for(count, grain, ...) makes: each has at least `grain` items, unless there
// is only one.
inline int part_count(std::int64_t count, std::int64_t grain) {
  const std::int64_t most = std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, grain));
  return static_cast<int>(std::min<std::int64_t>(most, thread_count()));
}

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

// Part `part` of `parts` of [0, count), cut at multiples of `unit`.
inline Range part_of(std::int64_t count, int part, int parts, std::int64_t unit = 1) {
  const std::int64_t units = (count + unit - 1) / unit;
  const auto cut = [&](std::int64_t p) { return std::min(count, units * p / parts * unit); };
  return {cut(part), cut(part + 1)};
}

// Calls fn(part) for every part in [0, parts), each once, on up to thread_count() threads.
template <class Fn>
void parallel_parts(int parts, const Fn& fn) {
  if (parts <= 1) {
    if (parts == 1) fn(0);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(std::min(parts, thread_count()))
  for (int part = 0; part < parts; ++part) fn(part);
}

// Calls fn(begin, end), or fn(part, begin, end), for the parts of [0, count).
template <class Fn>
void parallel_for(std::int64_t count, std::int64_t grain, const Fn& fn) {
  if (count <= 0) return;
  const int parts = part_count(count, grain);
  parallel_parts(parts, [&](int part) {
    const Range r = part_of(count, part, parts);
    if constexpr (std::is_invocable_v<const Fn&, int, std::int64_t, std::int64_t>)
      fn(part, r.begin, r.end);
    else
      fn(r.begin, r.end);
  });
}

}  // namespace moil
