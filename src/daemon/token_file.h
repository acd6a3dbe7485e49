// The tokens of HTTP clients that are not the daemon's user: a file in the state directory that only its
// owner may read. Changes are atomic. There is no backup, so a revoked token is gone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/access.h"

namespace corral::daemon {

constexpr const char* kTokensFile = "tokens.json";  // in the state directory

/// [a-z0-9-], 1 to 64 of them.
bool is_token_name(std::string_view name);

struct KeptToken {
  http::Token token;
  std::string created;  // "2026-11-15T21:17:33Z"
};

/// No file = no tokens. A file that other users may read, or that belongs to another user, is an error that
/// says what to do.
Result<std::vector<KeptToken>> read_kept_tokens(const std::string& file);
Result<std::vector<http::Token>> read_tokens(const std::string& file);

/// Creates the directory if there is none. Returns the new secret. `roots`: absolute paths of the
/// projects that it may name.
Result<std::string> create_token(const std::string& file, const std::string& name,
                                 const std::vector<std::string>& servers,
                                 const std::vector<std::string>& roots = {});
/// The error's kind is NotFound if there is none of this name.
Result<void> remove_token(const std::string& file, const std::string& name);

/// The daemon's view of the file: checked at each call, read when it has changed. Must be used on the loop's
/// thread.
class TokenFile {
 public:
  explicit TokenFile(std::string file) : file_(std::move(file)) {}

  /// The current tokens. None while the file cannot be used, which is logged once for each change to the
  /// file.
  const std::vector<http::Token>& current();
  bool any() { return !current().empty(); }
  /// Why the file cannot be used; empty = it can, or is not there.
  const std::string& problem() const { return problem_; }

 private:
  using Fingerprint = std::array<std::int64_t, 7>;  // what stat says; all 0 = no file
  Fingerprint fingerprint() const;

  const std::string file_;
  Fingerprint last_{};
  std::vector<http::Token> tokens_;
  std::string problem_;
};

}  // namespace corral::daemon
