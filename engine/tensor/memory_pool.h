// The one arena in which a plan's tensors lie (planner.h says where).
//
// Anonymous memory straight from the system: zeroed, page-aligned, resident only once touched, and
// given back whole on destruction, so that the process's memory falls by what the plan held. The
// pool has one owner; its addresses stay valid until then. Reading data() from several threads is
// fine, what they write there is the plan's business.
#pragma once

#include <cstddef>

namespace moil {

// Whether poison() does anything in this build.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kPoolsArePoisoned = true;
#else
inline constexpr bool kPoolsArePoisoned = false;
#endif

class MemoryPool {
 public:
  struct Options {
    // Asks for huge pages: fewer TLB misses, and transfers to and from disk pin a few pages instead
    // of thousands. Memory becomes resident 2 MiB at a time; a last part below that stays in small
    // pages.
    bool huge_pages = false;
  };

  // Throws kResourceExhausted if the system refuses. 0 bytes is an empty pool.
  explicit MemoryPool(std::size_t bytes) : MemoryPool(bytes, Options{}) {}
  MemoryPool(std::size_t bytes, Options options);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // The address of an offset, at most bytes(). Aligned as the offset is, up to a page.
  std::byte* data(std::size_t offset = 0) const { return base_ + offset; }
  template <typename T>
  T* as(std::size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  std::size_t bytes() const { return bytes_; }

  // The memory stays when the pool goes: for a device that is lost and may still write to it.
  void abandon() { is_abandoned_ = true; }

  // Gives back the whole pages within these bytes; they are zero, and not resident until touched
  // again. Throws kInternal for a range outside the pool.
  void discard(std::size_t offset, std::size_t bytes) const;

  // Under AddressSanitizer, reports whoever touches these bytes until unpoison; for tensors whose
  // lifetime is over. Nothing in other builds. Throws kInternal for a range outside the pool.
  void poison(std::size_t offset, std::size_t bytes) const;
  void unpoison(std::size_t offset, std::size_t bytes) const;

 private:
  void check_range(std::size_t offset, std::size_t bytes) const;

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;  // whole pages
  bool is_abandoned_ = false;
};

}  // namespace moil
