#include "cli/commands/build_facts.h"

#include <gnu/libc-version.h>
#include <sys/auxv.h>
#include <toml++/impl/version.h>

#include <CLI/Version.hpp>
#include <boost/json/array.hpp>
#include <boost/version.hpp>
#include <string>

#include "base/log.h"
#include "build.h"
#include "control/hello.h"
#include "registry/sqlite.h"
#include "survey/survey_json.h"
#include "version.h"
#include "wire/revisions.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

std::string version_of(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

/// AT_BASE is where the kernel has put the dynamic linker, which a static program does not need.
bool is_static() { return getauxval(AT_BASE) == 0; }

/// What the compiler and the linker did against attacks on memory, by the names of their options.
json::array hardening() {
  json::array names;
#if defined(__PIE__)
  if (!is_static()) names.emplace_back("pie");
#endif
#if defined(__SSP_STRONG__)
  names.emplace_back("stack-protector-strong");
#endif
#if defined(_FORTIFY_SOURCE)
  names.emplace_back("fortify-source");
#endif
  if (kReadOnlyRelocations) names.emplace_back("relro");
  if (kReadOnlyRelocations) names.emplace_back("bind-now");
  return names;
}

json::object libraries() {
  json::object found;
  found["boost"] = version_of(BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
  found["sqlite"] = registry::sqlite_version();
  found["spdlog"] = spdlog_version();
  found["fmt"] = fmt_version();
  found["cli11"] = CLI11_VERSION;
  found["tomlplusplus"] = version_of(TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH);
  found["glibc"] = gnu_get_libc_version();
  return found;
}

json::object features(const proc::Levels& levels) {
  json::array revisions;
  for (const wire::Revision& revision : wire::kRevisions) revisions.emplace_back(revision.date);
  return {{"protocol", {{"oldest", control::kOldestProtocol}, {"newest", control::kProtocol}}},
          {"revisions", std::move(revisions)},
          {"containment", survey::describe(levels)}};
}

}  // namespace

json::object build_facts(const proc::Levels& levels) {
  return {{"version", kVersion},
          {"build", kBuildDate},
          {"compiler", kCompiler},
          {"program",
           {{"linked", is_static() ? "static" : "dynamic"},
            {"sqlite", is_static() ? "source" : kSqliteFrom},
            {"hardening", hardening()}}},
          {"libraries", libraries()},
          {"features", features(levels)}};
}

}  // namespace corral::cli
