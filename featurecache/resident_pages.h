// The pages of the map that using it has made resident, given back to the kernel as they add up.
//
// A file's mapped pages count as the process's memory for as long as they are mapped, and a fault
// maps the pages around it, too (64 KiB, or a whole folio of up to 2 MiB): a night that goes
// through its feature maps once would come to hold them all. Large ones are read from the file for
// that (file_offset() says where), and of what is left the page cache keeps what is given back
// here: touching it again costs a page fault and no read. touched() and file_offset() are
// thread-safe; set_map() wants to be alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/files/unique_fd.h"

namespace moil::cache {

class ResidentPages {
 public:
  ResidentPages();

  // The map is the one that holds this address; null: none is known, and nothing is given back.
  void set_map(const void* inside);
  // Where the file has what lies there in the map; nothing if no map is known.
  std::optional<off_t> file_offset(const void* inside) const;

  // A record was read or written in a transaction. Every few of these the process's file pages are
  // counted, and the map's are given back if they have grown by kMostResidentBytes (cache.h).
  // What was found in the map stays readable.
  void touched();

 private:
  // File pages that this process has resident, of the map and of others; 0 if nobody knows.
  std::size_t resident_bytes() const;

  UniqueFd counters_;
  std::uintptr_t begin_ = 0, end_ = 0;
  off_t offset_ = 0;  // of begin_, in the file
  std::atomic<unsigned> touches_ = 0;
  std::atomic<std::size_t> before_ = 0;  // resident when it was last given back
};

}  // namespace moil::cache
