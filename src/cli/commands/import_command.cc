// `corral import`: copies the servers of a client's configuration into corral's.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/commands/config_change.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/page.h"
#include "config/configuration.h"
#include "config/file.h"
#include "config/import.h"
#include "config/merge.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral import ~/.cursor/mcp.json
  corral import ~/.codex/config.toml --dry-run
  corral import .mcp.json --config ./corral.json --force

Reads the JSON or TOML of any client and adds its stdio servers to corral's configuration; the client's file is not
changed. Comments and everything else in corral's configuration stay. A server that exists already is kept, unless
--force replaces it; even then its "corral" options stay. Exit code: 0, or 1 if nothing could be imported.)";

struct ImportOptions {
  std::string config;
  bool dry_run = false;
  bool force = false;
};

int refuse(const std::string& sentence) { return refuse_change("import", sentence); }

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

void tell(const ImportOptions& options, const config::Import& imported, const config::Merge& merge,
          const std::string& backup) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  const std::string file = printable(shorten_home(options.config));
  const std::string would = options.dry_run ? "Would add " : "Added ";
  if (!merge.added.empty()) page.paragraph("", would + joined(merge.added) + " to " + file + ".");
  if (!merge.replaced.empty()) {
    page.paragraph("", (options.dry_run ? "Would replace " : "Replaced ") + joined(merge.replaced) + " in " +
                           file + ".");
  }
  if (!merge.kept.empty()) {
    page.paragraph("", "Not changed in " + file + ": " + joined(merge.kept) + ". --force replaces them.");
  }
  if (!backup.empty()) page.paragraph("", "The old version is in " + printable(shorten_home(backup)) + ".");
  for (const std::string& note : imported.notes) page.paragraph("note: ", note + ".");
  const std::vector<std::string>& ready = !merge.added.empty() ? merge.added : merge.replaced;
  if (options.dry_run || ready.empty()) return;
  page.command("Next: ", connect_line(options.config, ready.front()));
  page.paragraph("",
                 "To use an imported server, write in the client's file: \"command\": \"corral\", \"args\": "
                 "[\"connect\", \"NAME\"].");
}

/// The current text of the file. For a dry run: takes no lock and creates no directory.
Result<config::FileText> current_text(const std::string& file) {
  Result<config::FileText> text = config::read_text(file);
  if (!text && text.error().kind == Error::Kind::NotFound) return config::FileText{};
  return text;
}

int import(const ImportOptions& options, const std::string& source) {
  const Result<config::FileText> text = config::read_text(source);
  if (!text) return refuse(text.error().message);
  const Result<config::Import> imported = config::import_servers(text->text, source);
  if (!imported) return refuse(imported.error().message);
  const auto existing = options.force ? config::Existing::Replace : config::Existing::Keep;
  const auto merge_into = [&](const std::string& old) {
    return config::merge_servers(old, options.config, imported->servers, existing);
  };
  if (imported->servers.empty()) {
    for (const std::string& note : imported->notes) refuse(note);
    return refuse("'" + source + "' has no server that corral can run. Name another file.");
  }
  if (options.dry_run) {
    const Result<config::FileText> old = current_text(options.config);
    if (!old) return refuse(old.error().message);
    const Result<config::Merge> merge = merge_into(old->text);
    if (!merge) return refuse(merge.error().message);
    tell(options, *imported, *merge, "");
    return 0;
  }
  Result<config::FileUpdate> update = config::FileUpdate::begin(options.config);
  if (!update) return refuse(update.error().message);
  const Result<config::Merge> merge = merge_into(update->text());
  if (!merge) return refuse(merge.error().message);
  const bool changes = merge->text != update->text();
  if (changes) {
    const Result<void> written = update->commit(merge->text);
    if (!written) return refuse(written.error().message);
  }
  tell(options, *imported, *merge, changes ? update->backup() : "");
  return 0;
}

}  // namespace

Command import_command() {
  auto options = std::make_shared<ImportOptions>();
  Command command;
  command.name = "import";
  command.summary = "Copy the servers of a client's configuration into corral's.";
  command.usage = "corral import [options] FILE";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::File;
  command.options = {
      {"--config", "FILE", "Add them to this file instead of the default one", set_word(options->config)},
      {"--dry-run", "", "Show what would be done, but change nothing", set_flag(options->dry_run)},
      {"--force", "", "Replace servers that exist already", set_flag(options->force)}};
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    if (!rest) return fail("import", rest.error().message);
    if (rest->size() != 1) return fail("import", "name one file, as in `corral import ~/.cursor/mcp.json`");
    if (options->config.empty()) options->config = config::default_file();
    const int code = import(*options, rest->front());
    return code;
  };
  return command;
}

}  // namespace corral::cli
