#include "featurecache/cache.h"

#include "base/error.h"
#include "featurecache/state.h"

namespace moil::cache {
namespace {

constexpr std::size_t kMaxValueBytes = std::size_t{1} << 30;

void check_description(const ModelId& id, const ModelRecord& record, std::string_view description) {
  if (record.description.empty() || record.description == description) return;
  throw Error(ErrorCode::kFailedPrecondition,
              "feature cache: model " + to_hex(id) + " is recorded as \"" + record.description +
                  "\", not as \"" + std::string(description) + "\"");
}

}  // namespace

FeatureCache::FeatureCache(const std::filesystem::path& folder, Options options)
    : state_(std::make_unique<State>(folder, std::move(options))) {}

FeatureCache::~FeatureCache() {
  if (state_->options.read_only) return;
  try {
    flush();
  } catch (const Error&) {
    // Documented: a cache may lose its newest entries; who needs to know calls flush().
  }
}

StoredType FeatureCache::stored_as() const { return state_->options.stored_as; }

void FeatureCache::use_model(const ModelId& id, std::string_view description) {
  const auto check = [&](const Ledger& ledger) {
    const auto at = ledger.models().find(id);
    if (at != ledger.models().end()) check_description(id, at->second, description);
  };
  if (state_->options.read_only) {
    const ReadTransaction txn(state_->env);
    check(Ledger(state_->env, txn.get(), state_->tables));
  } else {
    state_->env.write([&](MDB_txn* txn) {
      Ledger ledger(state_->env, txn, state_->tables);
      check(ledger);
      ModelRecord record = ledger.touch(id, state_->now());
      record.description = description;
      ledger.replace(id, std::move(record));
      ledger.save();
    });
  }
  const std::lock_guard lock(state_->models_mutex);
  state_->in_use[id] = description;
}

void FeatureCache::protect(std::span<const ModelId> ids) {
  const std::lock_guard lock(state_->models_mutex);
  for (const ModelId& id : ids) state_->in_use.try_emplace(id);
}

void FeatureCache::put(const FeatureKey& key, std::span<const float> elements) {
  state_->require_writable();
  const std::size_t bytes = value_bytes(state_->options.stored_as, elements.size());
  if (elements.empty() || bytes > kMaxValueBytes) {
    throw Error(ErrorCode::kInvalidArgument,
                "feature cache: a feature map of " + std::to_string(elements.size()) +
                    " elements; expected at least 1 and at most 1 GiB");
  }
  const std::lock_guard lock(state_->batch_mutex);
  Batch& batch = state_->batch;
  batch.add(key, state_->options.stored_as, elements);
  if (batch.bytes() >= state_->options.batch_bytes ||
      batch.entries().size() >= state_->options.batch_entries) {
    state_->commit_batch();
  }
}

void FeatureCache::flush() {
  state_->require_writable();
  const std::lock_guard lock(state_->batch_mutex);
  state_->commit_batch();
}

std::uint64_t FeatureCache::reclaim() {
  state_->require_writable();
  return state_->reclaim();
}

}  // namespace moil::cache
