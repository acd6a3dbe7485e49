#include "knowledge/passed_variables.h"

#include <algorithm>
#include <iterator>

#include "base/secrets.h"
#include "base/words.h"
#include "config/environment.h"
#include "config/volatile_variables.h"

namespace corral::knowledge {
namespace {

constexpr RuntimeVariables kRuntime[] = {
    {"NODE NODE_* OPENSSL_* UV_* ELECTRON_RUN_AS_NODE", "Node.js, its TLS and its event loop; also uv"},
    {"npm_config_* NPM_* pnpm_config_* PNPM_* YARN_* BUN_* DENO_* COREPACK_*",
     "from where npm's launchers take a package, and where they keep it"},
    {"NVM_DIR FNM_* N_PREFIX VOLTA_* NODENV_* ASDF_* MISE_* PROTO_*",
     "which Node.js or Python the program of a version manager starts"},
    {"PYTHON* PIP_* PIPX_* PYENV_* NETRC", "Python, its launchers and its HTTP libraries"},
    {"SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NIX_SSL_CERT_FILE",
     "which certificates a program trusts"},
    {"LD_* NIX_LD NIX_LD_LIBRARY_PATH GLIBC_TUNABLES MALLOC_*", "the dynamic linker and the C library"},
    {"RES_OPTIONS LOCALDOMAIN HOSTALIASES", "how host names are looked up"},
    {"LANGUAGE LOCPATH NLSPATH TZDIR ICU_DATA", "languages and time zones"},
    {"TMP TEMP", "where temporary files go, beside TMPDIR"},
};

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool has_word(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_name_character(text[at - 1]);
    if (begins && (end == text.size() || !is_name_character(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::span<const RuntimeVariables> runtime_variables() { return kRuntime; }

bool configures_runtime(std::string_view name) {
  return std::any_of(std::begin(kRuntime), std::end(kRuntime), [name](const RuntimeVariables& group) {
    return match_name(group.names, name) != NameMatch::None;
  });
}

bool is_in_command_line(const proc::LaunchSpec& launch, std::string_view name) {
  return std::any_of(launch.argv.begin(), launch.argv.end(),
                     [name](std::string_view argument) { return has_word(argument, name); });
}

void withhold_variables(proc::LaunchSpec& launch, const Unnoticed& unnoticed, Directory directory) {
  std::erase_if(launch.environment, [&](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('='));
    if (config::names_project(name) && directory == Directory::Ignored) return true;
    if (unnoticed.other_variables.empty()) return false;
    const std::string_view value = entry.substr(std::min(name.size() + 1, entry.size()));
    return !config::is_common(name) && !configures_runtime(name) && !names_secret(name) &&
           !looks_secret(value) && match_name(unnoticed.variables, name) == NameMatch::None &&
           !is_in_command_line(launch, name);
  });
}

}  // namespace corral::knowledge
