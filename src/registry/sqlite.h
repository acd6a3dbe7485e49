// SQLite as values with owners: a database, a prepared statement, the rows of one run of it, a transaction.
// Nobody but sqlite.cc sees sqlite3.h. A database and what belongs to it is used by one thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace corral::registry {

/// Why something did not work, as far as it decides what happens next.
enum class Trouble : std::uint8_t {
  None,
  Busy,      // somebody else writes; it passes
  Full,      // the disk, or a quota
  ReadOnly,  // the file, its folder, or the file system
  Corrupt,   // no database, or a damaged one
  NoRoom,    // it cannot be opened, or needs a file that cannot be made
  Refused,   // the statement does not fit these tables
  Disk,      // everything else that goes wrong with a file
};

/// One run of a statement. The statement can run again when this is gone.
class Rows {
 public:
  explicit Rows(sqlite3_stmt* statement) : statement_(statement) {}
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  /// Whether there is another one. After `false`, `trouble` says why.
  bool next();
  Trouble trouble() const { return trouble_; }
  /// Runs it to its end.
  Trouble finish();

  std::int64_t number(int column) const;
  /// Bytes as they were stored, also with zeros in them.
  std::string text(int column) const;

 private:
  sqlite3_stmt* statement_;
  Trouble trouble_ = Trouble::None;
};

class Statement {
 public:
  Statement() = default;
  /// An invalid one if the text does not fit the tables.
  Statement(sqlite3* database, const char* sql);

  bool valid() const { return statement_ != nullptr; }

  /// With these values for its question marks, in their order.
  template <class... Values>
  Rows run(const Values&... values) {
    int at = 0;
    (bind(++at, values), ...);
    return Rows(statement_.get());
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  void bind(int at, std::string_view text);
  void bind_number(int at, std::int64_t number);
  void bind(int at, const std::string& text) { bind(at, std::string_view(text)); }
  template <std::integral Number>
  void bind(int at, Number number) {
    bind_number(at, static_cast<std::int64_t>(number));
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  Database() = default;
  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;

  /// `path` has no link in it; a file that is not there is not made. Opened when `trouble` is None.
  static Database open(const std::string& path, Trouble& trouble);
  /// In memory.
  static Database unnamed();

  bool valid() const { return database_ != nullptr; }
  bool read_only() const;
  /// How long a statement may wait for somebody else's lock.
  void wait_for_locks(int milliseconds);
  /// Called after each commit with the number of pages that wait in the write-ahead log.
  void when_written(std::function<void(int pages)> task);

  Trouble execute(const char* sql);
  Statement prepare(const char* sql) { return {database_, sql}; }
  /// The first value of the first row; 0 or empty if there is none.
  std::int64_t number(const char* sql, Trouble& trouble);
  std::string text(const char* sql, Trouble& trouble);
  /// Rows that the last statement changed.
  int changed() const;

  /// Copies what waits in the write-ahead log into the database, as far as nobody needs it, and waits for the
  /// disk.
  Trouble checkpoint();

 private:
  sqlite3* database_ = nullptr;
  std::unique_ptr<std::function<void(int)>> written_;
};

/// Ends without effect if it is not committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Why it could not begin.
  Trouble trouble() const { return trouble_; }
  Trouble commit();

 private:
  Database& database_;
  Trouble trouble_;
  bool open_;
};

}  // namespace corral::registry
