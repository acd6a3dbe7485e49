// A disk that fails on command: SQLite's own way to files, with writing replaced. For the whole process, so
// it is switched off at the end of each test.
#pragma once

#include <sqlite3.h>

namespace corral::registry {

class FailingDisk {
 public:
  /// From now on writing comes to this code, for instance SQLITE_FULL; SQLITE_OK = it works.
  static void answer(int code) {
    install();
    answer_ = code;
  }

 private:
  // SQLite has one set of methods for databases and one for what nobody locks.
  template <int kSet>
  struct Methods {
    static inline const sqlite3_io_methods* real = nullptr;
    static inline sqlite3_io_methods ours{};

    static bool take_over(sqlite3_file& file) {
      if (real == nullptr) {
        real = file.pMethods;
        ours = *real;
        ours.xWrite = [](sqlite3_file* to, const void* bytes, int count, sqlite3_int64 at) {
          return answer_ == SQLITE_OK ? real->xWrite(to, bytes, count, at) : answer_;
        };
      }
      if (file.pMethods != real) return false;
      file.pMethods = &ours;
      return true;
    }
  };

  static void install() {
    if (real_ != nullptr) return;
    real_ = sqlite3_vfs_find(nullptr);
    static sqlite3_vfs ours = *real_;
    ours.zName = "failing";
    ours.pNext = nullptr;
    ours.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* given) {
      const int code = real_->xOpen(real_, name, file, flags, given);
      if (code == SQLITE_OK && file->pMethods != nullptr && !Methods<0>::take_over(*file)) {
        Methods<1>::take_over(*file);
      }
      return code;
    };
    sqlite3_vfs_register(&ours, 1);
  }

  static inline sqlite3_vfs* real_ = nullptr;
  static inline int answer_ = SQLITE_OK;
};

}  // namespace corral::registry
