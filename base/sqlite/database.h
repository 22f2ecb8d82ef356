// SQLite with its errors as moil::Error and its handles owned.
//
// A full disk becomes DiskFull (base/files/disk_full.h), a file that is not a database or is
// damaged kBadData, a lock that stayed taken kFailedPrecondition, a broken constraint
// kInvalidArgument, the rest kIo. A Database belongs to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace moil {

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

class Database {
 public:
  enum class Access { kReadWrite, kReadOnly };

  // Opens, creating the file with mode 0600 if access is kReadWrite (kReadOnly: kNotFound).
  Database(const std::filesystem::path& path, Access access);

  void run(const char* sql);                                 // one or more statements, no results
  [[nodiscard]] std::int64_t number(const char* sql) const;  // first column of the first row
  [[nodiscard]] std::int64_t last_id() const;
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  [[noreturn]] void fail(int code, std::string_view what) const;

 private:
  friend class Statement;
  // Preparing a statement takes as long as running it: one that is done is kept for the next of its
  // text.
  [[nodiscard]] StatementHandle prepare(std::string_view sql) const;
  void keep(StatementHandle statement) const;

  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> handle_;
  mutable std::unordered_map<std::string, StatementHandle> kept_;  // by text
};

// A prepared statement: bind in order, then step while rows come.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);
  ~Statement();
  Statement(Statement&&) = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value);
  Statement& bind(std::string_view text);
  Statement& bind(std::span<const std::uint8_t> blob);
  Statement& bind_null();

  [[nodiscard]] bool step();  // true: a row is there
  void run();                 // to its end; rows are left aside
  void reset();               // to be bound and stepped again

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column) const;  // empty: NULL
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  // Valid until the next step.
  [[nodiscard]] std::span<const std::uint8_t> blob(int column) const;

 private:
  void check(int code) const;

  const Database& database_;
  StatementHandle handle_;
  int bound_ = 0;
};

// Rolls back unless committed.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  Transaction(Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace moil
