// The tokens for those who come by HTTP and are not our own user: a file for its owner alone, in the
// state directory, changed in one step or not at all. No backup: what was revoked is gone.
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

/// No file = no tokens. A file that somebody else may read, or that is not ours, is an error that says what
/// to do.
Result<std::vector<KeptToken>> read_kept_tokens(const std::string& file);
Result<std::vector<http::Token>> read_tokens(const std::string& file);

/// Makes the folder if there is none. Returns the secret, which is new. `roots`: absolute paths of the
/// projects that it may name.
Result<std::string> create_token(const std::string& file, const std::string& name,
                                 const std::vector<std::string>& servers,
                                 const std::vector<std::string>& roots = {});
/// The error's kind is NotFound if there is none of this name.
Result<void> remove_token(const std::string& file, const std::string& name);

/// The file as a daemon sees it: looked at each time, read when it has changed. Of the loop's thread.
class TokenFile {
 public:
  explicit TokenFile(std::string file) : file_(std::move(file)) {}

  /// Those of now. None while the file cannot be used: that is logged, once for each change.
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
