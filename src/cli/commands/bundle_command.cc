// `corral bundle`: writes what a report about corral needs into one file, after the user has seen what that
// is.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "base/utc_time.h"
#include "cli/commands/bundle_parts.h"
#include "cli/frame/command.h"
#include "cli/frame/confirm.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/page.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral bundle              what is collected, with sizes, and a question
  corral bundle - | less     the whole text, on stdout
  corral bundle --yes report.txt

Collects into one text: versions, the status of the daemon, how servers failed last, the last 500 events, what `corral doctor`
finds, the configuration and the end of the daemon's log. What looks like a secret becomes ***, values of variables do in
any case, and your home directory becomes ~; read it before you send it. Works without a daemon and with a broken
configuration. Nothing is sent anywhere. The file is readable only by you; one that exists is never overwritten.
Exit code: 0; 1 if nothing was written; 125 for invalid options.)";

constexpr int kNotWritten = 1;

struct BundleOptions {
  std::string runtime_dir;
  std::string config;
  bool yes = false;
  bool dry_run = false;
};

/// "corral-bundle-20261116-034000.txt"
std::string usual_name() {
  std::string digits = show_utc_seconds(time(nullptr));
  std::erase_if(digits, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
  digits[digits.find('T')] = '-';
  return "corral-bundle-" + digits + ".txt";
}

int refuse(const std::string& sentence) {
  std::cerr << "corral bundle: " << printable(sentence) << "\n";
  return kNotWritten;
}

std::string why_not(const std::string& file, int error) {
  if (error == EEXIST) return "'" + file + "' exists already and is not overwritten. Name another file.";
  if (error == ENOENT || error == ENOTDIR) {
    return "there is no directory for '" + file + "'. Create it, or name another file.";
  }
  return "'" + file + "' cannot be written: " + strerror(error) +
         ". Nothing is left of it; name another file.";
}

/// Before anything is collected, which takes seconds. Writing checks again.
std::string objection_to(const std::string& file) {
  struct stat status {};
  if (lstat(file.c_str(), &status) == 0) return why_not(file, EEXIST);
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::absolute(file, unknown).parent_path();
  return std::filesystem::is_directory(folder, unknown) ? "" : why_not(file, ENOENT);
}

/// A new file that only its owner may read. After an error there is none.
Result<void> write_new(const std::string& file, const std::string& text) {
  const UniqueFd opened(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!opened.valid()) return Error{why_not(file, errno)};
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(opened.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    done += static_cast<std::size_t>(written);
  }
  if (done == text.size() && fsync(opened.get()) == 0) return {};
  const int error = errno;
  unlink(file.c_str());
  return Error{why_not(file, error)};
}

void show(const std::vector<BundlePart>& parts) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  std::vector<std::vector<std::string>> rows;
  for (const BundlePart& part : parts) {
    const std::string note = part.failed ? printable_line(part.text) : "";
    rows.push_back({part.name, part.failed ? "-" : show_size(part.text.size()), note});
  }
  page.table("", {{"PART"}, {"SIZE", true}, {"NOTE", false, true}}, rows);
  page.blank();
  page.paragraph("", "`corral bundle -` prints the whole text. Nothing is sent anywhere.");
}

int bundle(const BundleOptions& options, const std::string& given) {
  const std::string file = given.empty() ? usual_name() : given;
  const bool to_stdout = file == "-";
  const std::string objection = to_stdout || options.dry_run ? "" : objection_to(file);
  if (!objection.empty()) return refuse(objection);
  const std::vector<BundlePart> parts = collect_bundle(options.runtime_dir, options.config);
  if (to_stdout && !options.dry_run) {
    std::cout << bundle_text(parts) << std::flush;
    return std::cout ? 0 : refuse("stdout cannot be written.");
  }
  show(parts);
  if (options.dry_run) return 0;
  if (!options.yes && !can_ask()) {
    return refuse(
        "nothing was written, because there is no terminal to ask on. `corral bundle --yes` writes it.");
  }
  const Consent answer = options.yes ? Consent::Yes : ask("Write it to " + printable(file) + "?", "of it");
  if (answer != Consent::Yes && answer != Consent::All) return refuse("nothing was written.");
  const Result<void> written = write_new(file, bundle_text(parts));
  if (!written) return refuse(written.error().message);
  Page(std::cout, terminal_style(STDOUT_FILENO))
      .paragraph("", "Written to " + printable(file) + ". Read it before you send it to anybody.");
  return 0;
}

}  // namespace

Command bundle_command() {
  auto options = std::make_shared<BundleOptions>();
  Command command;
  command.name = "bundle";
  command.summary = "Collect what a report about corral needs, into one file.";
  command.usage = "corral bundle [options] [FILE | -]";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::File;
  command.options = {
      {"-y,--yes", "", "Write it without asking", set_flag(options->yes)},
      {"--dry-run", "", "Show what would be collected, but write nothing", set_flag(options->dry_run)},
      {"--config", "FILE", "Use this configuration instead of the default one", set_word(options->config)},
      runtime_dir_option(options->runtime_dir)};
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    if (!rest) return fail("bundle", rest.error().message);
    if (rest->size() > 1) return fail("bundle", "name one file, or none: `corral bundle report.txt`");
    return bundle(*options, rest->empty() ? "" : rest->front());
  };
  return command;
}

}  // namespace corral::cli
