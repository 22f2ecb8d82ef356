#include "datasets/labels/label_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/open_file.h"
#include "datasets/identity/split.h"
#include "datasets/labels/schema.h"
#include "datasets/labels/text.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

std::string listed(std::span<const std::string> labels) {
  std::string text;
  for (const auto& label : labels) text += (text.empty() ? "'" : ", '") + label + "'";
  return text;
}

}  // namespace

LabelStore::WriterLock::WriterLock(const fs::path& folder, Access access) {
  if (access == Access::kReadOnly) return;
  make_private_folder(folder);
  const fs::path path = folder / "lock";
  fd_ = open_file(path, O_RDWR | O_CREAT);
  if (fd_ < 0) throw system_error("cannot open " + path.string(), errno);
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  ::close(fd_);
  if (error != EWOULDBLOCK) throw system_error("cannot lock " + path.string(), error);
  throw Error(ErrorCode::kAlreadyExists,
              folder.string() + ": another process has the label store open for writing");
}

LabelStore::WriterLock::~WriterLock() {
  if (fd_ >= 0) ::close(fd_);
}

LabelStore::LabelStore(const fs::path& folder, Access access)
    : lock_(folder, access), files_(folder / "files"), database_(folder / "labels.db", access) {
  configure(access);
  if (access == Access::kReadOnly) return;
  // If a crash came before it, the file still has what was forgotten. On a full disk that waits
  // for the next change.
  (void)::sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                                    nullptr, nullptr);
  sync_folder(folder);
  remove_orphans();
}

LabelStore::~LabelStore() = default;

void LabelStore::configure(Access access) {
  database_.run("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;");
  if (access == Access::kReadOnly) {
    database_.run("PRAGMA cache_size = -512");  // KiB; there may be several, and the system caches
    return check_label_schema(database_);
  }
  // synchronous = FULL: in WAL mode anything less may lose a commit in a power cut.
  database_.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;");
  migrate_label_schema(database_);
}

void LabelStore::remove_orphans() {
  Statement select(database_, "SELECT 1 FROM samples WHERE digest = ? AND content IS NULL");
  files_.remove_orphans([&](const Digest& digest) {
    const bool known = select.bind(digest.bytes).step();
    select.reset();
    return known;
  });
}

AddedSample LabelStore::add_file(const fs::path& file, std::span<const std::string> labels,
                                 std::optional<Split> split) {
  return add_sample(read_file(file, kMaxSampleBytes), labels, split, file.string());
}

AddedSample LabelStore::add_sample(std::span<const std::uint8_t> content,
                                   std::span<const std::string> labels, std::optional<Split> split,
                                   std::string_view name, std::string_view step,
                                   const std::optional<Digest>& recording) {
  check_sample_content(content);
  const auto names = labels.empty() ? std::vector<std::string>{} : checked_label_names(labels);
  const Digest digest = digest_of(content);
  const std::lock_guard guard(mutex_);
  if (const auto present = samples_.find(digest))
    return add_known(*present, names, name, step, recording);
  if (content.size() > kInlineBytes) files_.write(digest, content);
  try {
    LabelChange change(database_);
    const std::int64_t noted = steps_.begin("add", step);
    steps_.note_added(noted, digest);
    steps_.note_new_labels(noted, names);
    const std::int64_t sample = samples_.insert(digest, content, split, name);
    samples_.attach(change.sides, sample, samples_.label_ids(names));
    if (recording) scenes_.note_recording(sample, *recording);
    if (recording || scenes_.has_pieces(digest)) scenes_.divide_anew(change.sides, {sample});
    commit(change);
  } catch (...) {
    if (!samples_.find(digest)) files_.remove(digest);
    throw;
  }
  return {digest, samples_.find(digest).value().split, true};
}

AddedSample LabelStore::add_known(const SampleRecord& present, std::span<const std::string> labels,
                                  std::string_view name, std::string_view step,
                                  const std::optional<Digest>& recording) {
  const bool is_first_label = present.labels.empty() && !labels.empty();
  if (!is_first_label && !std::ranges::includes(present.labels, labels)) {
    throw Error(ErrorCode::kAlreadyExists, "it is there already as " + listed(present.labels) +
                                               " (sample " + present.digest.hex() +
                                               "); relabel it to change that");
  }
  LabelChange change(database_);
  if (present.name.empty() && !name.empty()) samples_.name(present.id, name);
  if (recording) {
    scenes_.note_recording(present.id, *recording);
    scenes_.divide_anew(change.sides, {present.id});
  }
  if (is_first_label) {
    const std::int64_t noted = steps_.begin("add", step);
    steps_.note_new_labels(noted, labels);
    steps_.set_labels(change.sides, noted, present.digest, labels);
  }
  commit(change);
  return {present.digest, samples_.find(present.digest).value().split, false};
}

void LabelStore::forget(std::span<const Digest> digests) {
  const std::lock_guard guard(mutex_);
  LabelChange change(database_);
  Statement begun(database_, "SELECT 1 FROM forgetting WHERE digest = ?");
  for (const Digest& digest : digests) {
    const bool is_begun = begun.bind(digest.bytes).step();
    begun.reset();
    if (samples_.is_here(digest) || !is_begun) samples_.forget(change, digest);
  }
  commit(change);
  wipe();
}

void LabelStore::commit(LabelChange& change) {
  scenes_.divide_rest(change.sides, change.bereft);
  change.sides.settle();
  samples_.remove_bare_denials();
  change.transaction.commit();
}

// After the rows are gone for good: the files, and what the write-ahead log still holds (a reader
// may delay the latter until the next checkpoint).
void LabelStore::wipe() {
  Statement gone(database_,
                 "SELECT digest FROM forgetting WHERE digest NOT IN (SELECT digest FROM samples)");
  std::vector<Digest> digests;
  while (gone.step()) digests.push_back(Digest::from_bytes(gone.blob(0)));
  files_.remove(digests);
  database_.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

std::vector<ForgottenSample> LabelStore::forgetting() const {
  const std::lock_guard guard(mutex_);
  Statement select(database_, "SELECT digest, name FROM forgetting ORDER BY digest");
  std::vector<ForgottenSample> samples;
  while (select.step()) samples.push_back({Digest::from_bytes(select.blob(0)), select.text(1)});
  return samples;
}

void LabelStore::forgotten(std::span<const ForgottenSample> samples) {
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
  Statement remove(database_, "DELETE FROM forgetting WHERE digest = ?");
  for (const ForgottenSample& sample : samples) remove.bind(sample.digest.bytes).run();
  transaction.commit();
  database_.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

bool LabelStore::has(const Digest& digest) const {
  const std::lock_guard guard(mutex_);
  return samples_.is_here(digest);
}

std::vector<SampleRecord> LabelStore::samples(const SampleQuery& query) const {
  std::string sql = "SELECT " + std::string(Samples::kColumns) + " FROM samples WHERE id > ?";
  if (query.split) sql += " AND split = ?";
  if (query.labelled) {
    sql += std::string(" AND id ") + (*query.labelled ? "IN" : "NOT IN") +
           " (SELECT sample_id FROM sample_labels)";
  }
  if (query.label) {
    sql += " AND id IN (SELECT sample_id FROM sample_labels WHERE label_id = ?)";
  }
  sql += " ORDER BY id LIMIT ?";
  const std::lock_guard guard(mutex_);
  Transaction snapshot(database_, Transaction::Kind::kRead);
  Statement select(database_, sql);
  select.bind(query.after_id);
  if (query.split) select.bind(static_cast<std::int64_t>(*query.split));
  if (query.label) select.bind(samples_.existing_label_id(normal(*query.label)));
  select.bind(static_cast<std::int64_t>(std::min<std::size_t>(query.limit, INT32_MAX)));
  std::vector<SampleRecord> page;
  while (select.step()) page.push_back(samples_.record(select));
  return page;
}

void LabelStore::for_each_sample(std::optional<Split> split,
                                 const std::function<void(const SampleRecord&)>& visit) const {
  SampleQuery all;
  all.split = split;
  all.limit = SIZE_MAX;
  for (const SampleRecord& sample : samples(all)) visit(sample);
}

std::optional<SampleRecord> LabelStore::find(const Digest& digest) const {
  const std::lock_guard guard(mutex_);
  Transaction snapshot(database_, Transaction::Kind::kRead);
  return samples_.find(digest);
}

std::vector<std::uint8_t> LabelStore::content(const Digest& digest) const {
  std::uint64_t size = 0;
  {
    const std::lock_guard guard(mutex_);
    Statement select(database_, "SELECT size, content FROM samples WHERE digest = ?");
    if (!select.bind(digest.bytes).step()) {
      throw Error(ErrorCode::kNotFound, "there is no sample " + digest.hex());
    }
    size = static_cast<std::uint64_t>(select.integer(0));
    if (!select.is_null(1)) {
      const auto blob = select.blob(1);
      if (digest_of(blob) == digest) return {blob.begin(), blob.end()};
      throw Error(ErrorCode::kBadData, "the sample " + digest.hex() + " is damaged");
    }
  }
  try {
    return files_.read(digest, size);
  } catch (const Error& error) {
    // Forgotten meanwhile, or lost.
    if (error.code() != ErrorCode::kNotFound || !find(digest)) throw;
    throw Error(ErrorCode::kBadData, error.what());
  }
}

UniqueFd LabelStore::open_content(const Digest& digest) const { return files_.open(digest); }

std::vector<std::uint8_t> LabelStore::content_head(const Digest& digest, std::size_t most,
                                                   std::uint64_t& size) const {
  {
    const std::lock_guard guard(mutex_);
    Statement select(database_, "SELECT size, content FROM samples WHERE digest = ?");
    if (!select.bind(digest.bytes).step())
      throw Error(ErrorCode::kNotFound, "there is no sample " + digest.hex());
    size = static_cast<std::uint64_t>(select.integer(0));
    if (!select.is_null(1)) {
      const auto head = select.blob(1).first(std::min(most, select.blob(1).size()));
      return {head.begin(), head.end()};
    }
  }
  return files_.read_head(digest, most);
}

void LabelStore::record_likenesses(std::span<const SampleLikeness> samples) {
  const std::lock_guard guard(mutex_);
  LabelChange change(database_);
  scenes_.record_likenesses(change.sides, samples);
  commit(change);
}

void LabelStore::record_uses(std::span<const Digest> samples) {
  const std::lock_guard guard(mutex_);
  LabelChange change(database_);
  scenes_.record_uses(change.sides, samples);
  commit(change);
}

}  // namespace moil::data
