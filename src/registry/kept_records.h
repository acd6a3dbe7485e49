// What daemons have kept in the registry's file, for commands that work without a daemon. Only reads: it
// creates no file, changes nothing, and a daemon that writes does not notice it. The file may be missing,
// damaged or of another version; then there is one sentence that says so. Used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "registry/registry.h"

namespace corral::registry {

class Database;
class Tables;

class KeptRecords {
 public:
  /// Error::Kind::NotFound: there is no file, or an empty one, so nothing was ever kept here.
  static Result<KeptRecords> open(const std::string& path);

  KeptRecords(KeptRecords&& other) noexcept;
  KeptRecords& operator=(KeptRecords&& other) noexcept;
  ~KeptRecords();

  /// With symbolic links resolved.
  const std::string& file() const { return file_; }

  using Take = std::function<bool(const events::Event&)>;
  /// Calls `take` with the events of all daemons until it returns false.
  Result<void> oldest_first(const Take& take);
  Result<void> newest_first(const Take& take);
  /// The manifests of all servers, the newest first.
  Result<void> each_manifest(const std::function<void(const std::string& server, std::string text)>& take);
  /// The instances of all daemons, the one that was started last first.
  Result<std::vector<InstanceRecord>> last_instances(std::size_t most);

 private:
  KeptRecords(std::string file, std::unique_ptr<Database> database);

  std::string file_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace corral::registry
