#include "base/sqlite/database.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/disk_full.h"
#include "base/files/open_file.h"

namespace moil {
namespace {

constexpr std::size_t kMostKept = 200;  // statements of a connection
constexpr int kBusyMilliseconds = 10'000;

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return ErrorCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kBadData;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
      return ErrorCode::kFailedPrecondition;
    case SQLITE_CONSTRAINT:
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kIo;
  }
}

// The write-ahead log's index and a user's quota fail as I/O errors; errno tells.
bool is_for_want_of_room(int sqlite_code, sqlite3* handle) {
  const int kind = sqlite_code & 0xff;
  if (kind == SQLITE_FULL) return true;
  const bool of_the_system = kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN;
  return of_the_system && handle != nullptr && is_disk_full(sqlite3_system_errno(handle));
}

// SQLite would create the file readable for all; its -wal and -shm copy the mode of the file. One
// that is there is left alone: closing it would take the locks of other connections of the process.
void create_private(const std::filesystem::path& path) {
  const int fd = open_file(path, O_RDWR | O_CREAT | O_EXCL);
  if (fd < 0 && errno != EEXIST) throw_write_error("cannot open " + path.string(), errno);
  if (fd >= 0) ::close(fd);
}

}  // namespace

Database::Database(const std::filesystem::path& path, Access access) : path_(path) {
  if (access == Access::kReadWrite) {
    create_private(path);
  } else if (!std::filesystem::exists(path)) {
    throw Error(ErrorCode::kNotFound, path.string() + " is not there");
  }
  const int mode = access == Access::kReadWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, mode | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(raw);
  if (code != SQLITE_OK) fail(code, "open");
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
}

void Database::run(const char* sql) {
  const int code = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, sql);
}

std::int64_t Database::number(const char* sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle()); }

void Database::fail(int code, std::string_view what) const {
  const std::string text = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  const std::string message = path_.string() + ": " + text + " (" + std::string(what) + ")";
  if (is_for_want_of_room(code, handle_.get())) throw DiskFull(message);
  throw Error(code_of(code), message);
}

StatementHandle Database::prepare(std::string_view sql) const {
  if (const auto kept = kept_.find(std::string(sql)); kept != kept_.end())
    return std::move(kept_.extract(kept).mapped());
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(handle(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  StatementHandle statement(raw);
  if (code != SQLITE_OK) fail(code, sql);
  return statement;
}

void Database::keep(StatementHandle statement) const {
  const char* text = sqlite3_sql(statement.get());
  // Some pragmas do their work while they are prepared.
  if (text == nullptr || std::string_view(text).starts_with("PRAGMA")) return;
  sqlite3_reset(statement.get());
  sqlite3_clear_bindings(statement.get());
  if (kept_.size() >= kMostKept) kept_.clear();
  kept_.try_emplace(text, std::move(statement));
}

Statement::Statement(const Database& database, std::string_view sql)
    : database_(database), handle_(database.prepare(sql)) {}

Statement::~Statement() {
  if (handle_) database_.keep(std::move(handle_));
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail(code, sqlite3_sql(handle_.get()));
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), ++bound_, value));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  check(sqlite3_bind_text64(handle_.get(), ++bound_, text.empty() ? "" : text.data(), text.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(std::span<const std::uint8_t> blob) {
  const void* data = blob.empty() ? static_cast<const void*>("") : blob.data();
  check(sqlite3_bind_blob64(handle_.get(), ++bound_, data, blob.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null() {
  check(sqlite3_bind_null(handle_.get(), ++bound_));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail(code, sqlite3_sql(handle_.get()));
  return false;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  bound_ = 0;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}

std::string Statement::text(int column) const {
  const auto* data = sqlite3_column_text(handle_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return data ? std::string(reinterpret_cast<const char*>(data), size) : std::string();
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::span<const std::uint8_t> Statement::blob(int column) const {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(handle_.get(), column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database_.run(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace moil
