#include "featurecache/ledger.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/hash.h"

namespace moil::cache {
namespace {

// As stored: these 40 bytes, then the description. The checksum covers id, the rest and the text.
struct StoredRecord {
  std::uint64_t checksum;
  std::int64_t created;
  std::int64_t last_used;
  std::uint64_t entries;
  std::uint64_t bytes;
};
static_assert(sizeof(StoredRecord) == 40);

std::uint64_t checksum(const ModelId& id, std::span<const std::uint8_t> stored) {
  const auto covered = stored.subspan(sizeof(std::uint64_t));
  return hash64(covered, hash64(id.bytes));
}

std::vector<std::uint8_t> pack(const ModelId& id, const ModelRecord& record) {
  StoredRecord head{0, record.created, record.last_used, record.entries, record.bytes};
  std::vector<std::uint8_t> bytes(sizeof head + record.description.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::copy(record.description.begin(), record.description.end(), bytes.begin() + sizeof head);
  head.checksum = checksum(id, bytes);
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

std::optional<ModelRecord> unpack(const ModelId& id, std::span<const std::uint8_t> bytes) {
  StoredRecord head{};
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.checksum != checksum(id, bytes)) return std::nullopt;
  const auto text = bytes.subspan(sizeof head);
  return ModelRecord{head.created, head.last_used, head.entries, head.bytes,
                     std::string(text.begin(), text.end())};
}

}  // namespace

Ledger::Ledger(const Environment& env, MDB_txn* txn, const Tables& tables)
    : env_(env), txn_(txn), tables_(tables) {
  const Cursor cursor(env, txn, tables.models);
  MDB_val key{};
  MDB_val value{};
  int rc = 0;
  while ((rc = ::mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT)) == 0) {
    ModelId id;
    const bool sized = key.mv_size == id.bytes.size();
    if (sized) std::memcpy(id.bytes.data(), key.mv_data, key.mv_size);
    auto record = sized ? unpack(id, to_span(value)) : std::nullopt;
    if (!record) {
      ++damaged_;
      continue;
    }
    total_bytes_ += record->bytes;
    models_.emplace(id, std::move(*record));
  }
  if (rc != MDB_NOTFOUND) env.fail(rc, "read");
}

const ModelRecord& Ledger::touch(const ModelId& id, std::int64_t now) {
  const auto [at, fresh] = models_.try_emplace(id);
  if (fresh) at->second.created = now;
  // A clock that was set back is no earlier use; one that once showed another year told nothing.
  constexpr std::int64_t kDay = 86400;
  const std::int64_t before = at->second.last_used;
  at->second.last_used = before > now + kDay ? now : std::max(before, now);
  changed_[id] = true;
  return at->second;
}

void Ledger::replace(const ModelId& id, ModelRecord record) {
  ModelRecord& at = models_[id];
  total_bytes_ = total_bytes_ - at.bytes + record.bytes;
  at = std::move(record);
  changed_[id] = true;
}

void Ledger::erase(const ModelId& id) {
  const auto at = models_.find(id);
  if (at != models_.end()) {
    total_bytes_ -= at->second.bytes;
    models_.erase(at);
  }
  changed_[id] = false;
}

void Ledger::add(const ModelId& id, std::uint64_t bytes) {
  ModelRecord& record = models_[id];
  ++record.entries;
  record.bytes += bytes;
  total_bytes_ += bytes;
  changed_[id] = true;
}

// Never below zero: a record that was lost to damage begins again from nothing.
void Ledger::subtract(const ModelId& id, std::uint64_t bytes) {
  ModelRecord& record = models_[id];
  bytes = std::min(bytes, record.bytes);
  record.entries -= std::min<std::uint64_t>(record.entries, 1);
  record.bytes -= bytes;
  total_bytes_ -= bytes;
  changed_[id] = true;
}

void Ledger::save() {
  for (const auto& [id, present] : changed_) {
    MDB_val key = to_val(id.bytes);
    if (!present) {
      const int rc = ::mdb_del(txn_, tables_.models, &key, nullptr);
      if (rc != MDB_NOTFOUND) env_.check(rc, "write");
      continue;
    }
    const auto bytes = pack(id, models_.at(id));
    MDB_val value = to_val(bytes);
    env_.check(::mdb_put(txn_, tables_.models, &key, &value, 0), "write");
  }
  changed_.clear();
}

// LMDB's arithmetic: a node of 8 bytes + key + value lies in a leaf up to half a page, else the
// value gets consecutive pages of its own, 16 bytes of the first being the page header.
std::uint64_t charge(std::uint64_t value_bytes, std::uint64_t page_bytes, std::uint64_t key_bytes) {
  const std::uint64_t node = 8 + key_bytes;
  constexpr std::uint64_t kSlot = 2;
  const std::uint64_t largest_node = ((page_bytes - 16) / 2 & ~std::uint64_t{1}) - kSlot;
  if (node + value_bytes <= largest_node) return (node + value_bytes + 1) / 2 * 2 + kSlot;
  const std::uint64_t pages = (16 + value_bytes + page_bytes - 1) / page_bytes;
  return node + sizeof(std::uint64_t) + kSlot + pages * page_bytes;
}

}  // namespace moil::cache
