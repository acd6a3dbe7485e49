#include "daemon/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "base/unique_id.h"
#include "base/utc_time.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

namespace json = boost::json;

constexpr std::size_t kLargestTokenFile = std::size_t{1} << 20;
constexpr std::size_t kMostTokens = 1024;  // each is compared with the token of a request
constexpr std::size_t kLongestTokenName = 64;
constexpr std::size_t kShortestSecret = 32;  // 128 bit as digits
constexpr std::size_t kSecretBytes = 32;

Error token_file_error(const std::string& file, const std::string& cause, const std::string& next) {
  return Error{"the tokens in '" + file + "' cannot be used: " + cause + ". " + next + "."};
}

Error token_file_unwritable(const std::string& file, int error) {
  return Error{"'" + file + "' cannot be written: " + strerror(error) +
               ". Nothing was changed: correct that, or choose another directory with --state-dir."};
}

// ---- reading

/// Through one descriptor, so that the file that is checked is the file that is read.
std::optional<Error> objection_to_token_file(const std::string& file, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) {
    return token_file_error(file, "it is not a regular file", "Remove it, and create the tokens again");
  }
  if (status.st_uid != geteuid()) {
    return token_file_error(
        file, "it belongs to user " + std::to_string(status.st_uid) + ", so that user knows the tokens",
        "Remove it, and create the tokens again");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return token_file_error(file, "other users may open it and may know the tokens",
                            "Run `chmod 600` on it, then revoke the tokens that they may have seen");
  }
  if (status.st_size > static_cast<off_t>(kLargestTokenFile)) {
    return token_file_error(file, "it is larger than 1 MiB", "Revoke tokens that are not needed");
  }
  return std::nullopt;
}

/// Empty if there is no such file.
Result<std::string> read_token_text(const std::string& file) {
  const UniqueFd opened(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened.valid() && (errno == ENOENT || errno == ENOTDIR)) return {boost::system::in_place_value};
  struct stat status {};
  if (!opened.valid() || fstat(opened.get(), &status) != 0) {
    const std::string cause = errno == ELOOP ? "it is a symbolic link" : strerror(errno);
    return token_file_error(file, cause, "Correct this, or choose another directory with --state-dir");
  }
  if (std::optional<Error> objection = objection_to_token_file(file, status)) return std::move(*objection);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(opened.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return token_file_error(file, strerror(errno), "Correct this");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return {boost::system::in_place_value, std::move(text)};
}

const json::string* token_text(const json::object& object, const char* name) {
  const json::value* const value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_string();
}

std::string token_string(const json::string& text) { return {text.data(), text.size()}; }

bool is_token_secret(std::string_view text) {
  return text.size() >= kShortestSecret && text.size() <= 512 &&
         std::all_of(text.begin(), text.end(), [](char letter) { return letter > ' ' && letter <= '~'; });
}

/// Reads the list that it is limited to. False if there is one and it cannot be read.
bool read_limit(const json::object& object, const char* name, std::vector<std::string>& into) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr) return true;
  const json::array* const list = value->if_array();
  if (list == nullptr || list->empty()) return false;
  for (const json::value& one : *list) {
    const json::string* const text = one.if_string();
    if (text == nullptr || text->empty()) return false;
    into.push_back(token_string(*text));
  }
  return true;
}

/// Nothing if it is not a whole token: a list of servers that cannot be read must not open all of them.
std::optional<KeptToken> token_from(const json::value& value) {
  const json::object* const object = value.if_object();
  const json::string* const name = object == nullptr ? nullptr : token_text(*object, "name");
  const json::string* const secret = object == nullptr ? nullptr : token_text(*object, "secret");
  if (name == nullptr || secret == nullptr) return std::nullopt;
  KeptToken kept;
  kept.token.name = token_string(*name);
  kept.token.secret = token_string(*secret);
  if (!is_token_name(kept.token.name) || !is_token_secret(kept.token.secret)) return std::nullopt;
  if (const json::string* const created = token_text(*object, "created"))
    kept.created = token_string(*created);
  const bool read =
      read_limit(*object, "servers", kept.token.servers) && read_limit(*object, "roots", kept.token.roots);
  return read ? std::optional(std::move(kept)) : std::nullopt;
}

Result<std::vector<KeptToken>> parse_tokens(const std::string& text, const std::string& file) {
  constexpr const char* kNext = "Correct it with an editor, or remove it and create the tokens again";
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* const object = error ? nullptr : value.if_object();
  const json::value* const list = object == nullptr ? nullptr : object->if_contains("tokens");
  if (list == nullptr || !list->is_array()) {
    return token_file_error(file, "it is not a JSON object with a list `tokens`", kNext);
  }
  if (list->get_array().size() > kMostTokens) {
    return token_file_error(file, "it has more than 1024 tokens", "Revoke those that are not needed");
  }
  std::vector<KeptToken> tokens;
  for (const json::value& one : list->get_array()) {
    std::optional<KeptToken> kept = token_from(one);
    const std::string number = std::to_string(tokens.size() + 1);
    if (!kept) return token_file_error(file, "entry " + number + " of the list is not a token", kNext);
    const bool twice = std::any_of(tokens.begin(), tokens.end(), [&kept](const KeptToken& other) {
      return other.token.name == kept->token.name;
    });
    if (twice) return token_file_error(file, "'" + kept->token.name + "' is in the list twice", kNext);
    tokens.push_back(std::move(*kept));
  }
  return tokens;
}

// ---- writing

std::string limit_text(const char* name, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? ", \"" + std::string(name) + "\": [" : ", ";
    text += wire::quoted(word);
  }
  return text.empty() ? text : text + "]";
}

std::string token_file_text(const std::vector<KeptToken>& tokens) {
  std::string text = "{\"tokens\": [";
  for (const KeptToken& kept : tokens) {
    text += &kept == &tokens.front() ? "\n" : ",\n";
    text += "  {\"name\": " + wire::quoted(kept.token.name) + ", \"created\": " + wire::quoted(kept.created);
    text += limit_text("servers", kept.token.servers) + limit_text("roots", kept.token.roots);
    text += ", \"secret\": " + wire::quoted(kept.token.secret) + "}";
  }
  return text + "\n]}\n";
}

/// The directory, locked until the descriptor is closed, so that of two simultaneous changes none is lost.
Result<UniqueFd> lock_token_folder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  make_private_directories(folder.string());
  UniqueFd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!opened.valid() || fstat(opened.get(), &status) != 0) return token_file_unwritable(file, errno);
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error{"the directory '" + folder.string() +
                 "' can be written by other users, so no token is stored there. Run `chmod 700` on it, or "
                 "choose another directory with --state-dir."};
  }
  if (!lock_with_patience(opened.get())) {
    return Error{"another process has locked '" + file + "' for 5 s. Try again."};
  }
  return opened;
}

bool write_token_text(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(file) == 0;
}

/// Atomic: a reader sees the old file or the new one.
Result<void> put_tokens(int folder, const std::string& file, const std::vector<KeptToken>& tokens) {
  const std::string name = std::filesystem::path(file).filename().string();
  const std::string temporary = "." + name + "." + random_hex(8);
  const UniqueFd opened(openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!opened.valid()) return token_file_unwritable(file, errno);
  if (write_token_text(opened.get(), token_file_text(tokens)) &&
      renameat(folder, temporary.c_str(), folder, name.c_str()) == 0) {
    fsync(folder);
    return {};
  }
  const int error = errno;
  unlinkat(folder, temporary.c_str(), 0);
  return token_file_unwritable(file, error);
}

auto find_kept(std::vector<KeptToken>& tokens, const std::string& name) {
  return std::find_if(tokens.begin(), tokens.end(),
                      [&name](const KeptToken& kept) { return kept.token.name == name; });
}

}  // namespace

bool is_token_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestTokenName &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

Result<std::vector<KeptToken>> read_kept_tokens(const std::string& file) {
  const Result<std::string> text = read_token_text(file);
  if (!text) return text.error();
  if (text->empty()) return std::vector<KeptToken>();
  return parse_tokens(*text, file);
}

Result<std::vector<http::Token>> read_tokens(const std::string& file) {
  Result<std::vector<KeptToken>> kept = read_kept_tokens(file);
  if (!kept) return kept.error();
  std::vector<http::Token> tokens;
  for (KeptToken& one : *kept) tokens.push_back(std::move(one.token));
  return tokens;
}

Result<std::string> create_token(const std::string& file, const std::string& name,
                                 const std::vector<std::string>& servers,
                                 const std::vector<std::string>& roots) {
  if (!is_token_name(name)) {
    return Error{"invalid token name '" + name + "': use at most 64 characters: a-z, 0-9 and -."};
  }
  const Result<UniqueFd> folder = lock_token_folder(file);
  if (!folder) return folder.error();
  Result<std::vector<KeptToken>> tokens = read_kept_tokens(file);
  if (!tokens) return tokens.error();
  if (find_kept(*tokens, name) != tokens->end()) {
    return Error{"token '" + name + "' already exists. Choose another name, or run `corral token revoke " +
                 name + "` first."};
  }
  if (tokens->size() >= kMostTokens) {
    return Error{"there are already 1024 tokens. Revoke those that are not needed."};
  }
  const std::string secret = "crl_" + random_hex(kSecretBytes);
  tokens->push_back({{name, secret, servers, roots}, show_utc_seconds(std::time(nullptr))});
  const Result<void> done = put_tokens(folder->get(), file, *tokens);
  if (!done) return done.error();
  return {boost::system::in_place_value, secret};
}

Result<void> remove_token(const std::string& file, const std::string& name) {
  const auto unknown = [&name] {
    return Error{"there is no token '" + name + "'. `corral token list` shows them all.",
                 Error::Kind::NotFound};
  };
  if (access(file.c_str(), F_OK) != 0) return unknown();  // nothing to lock, and no directory to create
  const Result<UniqueFd> folder = lock_token_folder(file);
  if (!folder) return folder.error();
  Result<std::vector<KeptToken>> tokens = read_kept_tokens(file);
  if (!tokens) return tokens.error();
  const auto token = find_kept(*tokens, name);
  if (token == tokens->end()) return unknown();
  tokens->erase(token);
  return put_tokens(folder->get(), file, *tokens);
}

TokenFile::Fingerprint TokenFile::fingerprint() const {
  struct stat status {};
  if (lstat(file_.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_ino),
          static_cast<std::int64_t>(status.st_mode),  // changing the owner also changes the time
          static_cast<std::int64_t>(status.st_size),
          status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

const std::vector<http::Token>& TokenFile::current() {
  const Fingerprint now = fingerprint();
  if (now == last_) return tokens_;
  last_ = now;
  Result<std::vector<http::Token>> read = read_tokens(file_);
  tokens_ = read ? std::move(*read) : std::vector<http::Token>();
  problem_ = read ? "" : read.error().message;
  if (!problem_.empty()) log_line(problem_);
  return tokens_;
}

}  // namespace corral::daemon
