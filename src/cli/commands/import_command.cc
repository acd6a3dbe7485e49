// `corral import`: copies the servers of a client's configuration into corral's.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/commands/config_change.h"
#include "cli/commands/entry_check.h"
#include "cli/commands/next_steps.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/page.h"
#include "config/configuration.h"
#include "config/file.h"
#include "config/import.h"
#include "config/locks.h"
#include "config/merge.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral import ~/.cursor/mcp.json
  corral import ~/.codex/config.toml --dry-run
  corral import .mcp.json --config ./corral.json --force
  corral import --try ~/.cursor/mcp.json        add only the servers that start

Reads the JSON or TOML of any client and adds its stdio servers to corral's configuration; the client's file is not
changed. Comments and everything else in corral's configuration stay. A server that exists already is kept, unless
--force replaces it; even then its "corral" options stay. What is left out is named, and so are credentials in plain text.
Exit code: 0, or 1 if nothing could be imported, or if a server has failed with --try.)";

struct ImportOptions {
  std::string config;
  bool dry_run = false;
  bool force = false;
  bool trial = false;
};

/// The client's file, and what was found in it.
struct Source {
  std::string file;
  config::Import imported;
};

using MergeInto = std::function<Result<config::Merge>(const std::string& old)>;

int refuse(const std::string& sentence) { return refuse_change("import", sentence); }

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What the user should know about servers that were taken over: names, never values.
void warn(Page& page, const ImportOptions& options, const Source& source, const config::Merge& merge) {
  const std::vector<std::string> environment = client_environment();
  const auto is_new = [&merge](const std::string& name) {
    return among(merge.added, name) || among(merge.replaced, name);
  };
  const Result<config::Configuration> machine = config::read_machine();
  const Result<config::Configuration> now =
      config::parse(merge.text, options.config, machine ? *machine : config::default_configuration());
  if (now && !(merge.added.empty() && merge.replaced.empty())) {
    for (const std::string& locked : now->overruled) page.paragraph("warning: ", printable(locked));
  }
  for (const config::NewServer& one : source.imported.servers) {
    const config::Server* const server = now && is_new(one.name) ? now->find(one.name) : nullptr;
    if (server == nullptr || server->disabled) continue;
    for (const std::string& doubt : doubts_about(*server, environment)) {
      page.paragraph("warning: ", printable(doubt) + (options.dry_run ? "" : " It was added anyway."));
    }
  }
  for (const auto& [name, credential] : source.imported.credentials) {
    if (among(merge.kept, name)) continue;
    const std::string file = is_new(name) && !options.dry_run ? options.config : source.file;
    page.paragraph("warning: ", printable(credential_warning(name, credential, shorten_home(file))));
  }
}

void tell(const ImportOptions& options, const Source& source, const config::Merge& merge,
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
  for (const config::ImportNote& note : source.imported.notes) {
    // Nothing was added without anything.
    if (!among(merge.kept, note.server)) page.paragraph("note: ", note.text + ".");
  }
  warn(page, options, source, merge);
  const std::vector<std::string>& ready = !merge.added.empty() ? merge.added : merge.replaced;
  if (options.dry_run || ready.empty()) return;
  show_next_steps(page, options.config, ready.front());
  if (merge.added.size() + merge.replaced.size() > 1) {
    page.paragraph("",
                   "`corral url NAME --client CLIENT` prints the line for the other servers; `corral list` "
                   "lists them.");
  }
}

/// The current text of the file. For a dry run: takes no lock and creates no directory.
Result<config::FileText> current_text(const std::string& file) {
  Result<config::FileText> text = config::read_text(file);
  if (!text && text.error().kind == Error::Kind::NotFound) return config::FileText{};
  return text;
}

/// For --try: removes the servers that did not start. Returns whether all did.
bool keep_those_that_start(const ImportOptions& options, config::Import& imported,
                           const config::Merge& merge) {
  const Result<config::Configuration> wanted = config::parse(merge.text, options.config);
  if (!wanted) return true;  // merge_servers has checked the text
  Interrupts interrupts;
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  std::vector<std::string> failed;
  for (const config::NewServer& one : imported.servers) {
    const config::Server* const server = wanted->find(one.name);
    if (among(merge.kept, one.name) || server == nullptr || server->disabled) continue;
    const Result<std::string> tried = try_server(*server, interrupts);
    if (tried) {
      page.paragraph("", "Tried " + printable(one.name) + ": " + *tried + ".");
    } else {
      failed.push_back(one.name);
      std::cerr << "corral import: '" << printable(one.name)
                << "' is not added, because it did not start: " << tried.error().message << "\n";
    }
  }
  std::erase_if(imported.servers, [&](const config::NewServer& one) { return among(failed, one.name); });
  std::erase_if(imported.credentials, [&](const auto& one) { return among(failed, one.first); });
  std::erase_if(imported.notes, [&](const auto& one) { return among(failed, one.server); });
  return failed.empty();
}

/// Writes the merged text. The exit code.
int change(const ImportOptions& options, const Source& source, const MergeInto& merge_into) {
  const std::string objection = objection_to_changing(options.config);
  if (!objection.empty()) return refuse(objection);
  Result<config::FileUpdate> update = config::FileUpdate::begin(options.config);
  if (!update) return refuse(update.error().message);
  const Result<config::Merge> merge = merge_into(update->text());
  if (!merge) return refuse(merge.error().message);
  const bool changes = merge->text != update->text();
  if (changes) {
    const Result<void> written = update->commit(merge->text);
    if (!written) return refuse(written.error().message);
  }
  tell(options, source, *merge, changes ? update->backup() : "");
  return 0;
}

/// Leaves out the servers that would have no effect, because the administrator has locked their names.
Result<void> leave_out_locked(config::Import& imported) {
  const Result<config::Configuration> machine = config::read_machine();
  if (!machine) return machine.error();
  std::vector<std::string> locked;
  for (const config::NewServer& one : imported.servers) {
    const config::FilePlace* const lock = machine->lock_of(config::key_of_server(one.name));
    if (lock == nullptr) continue;
    locked.push_back(one.name);
    imported.notes.push_back(
        {"server '" + printable(one.name) + "' is left out, because " + lock->text() + " locks it"});
  }
  std::erase_if(imported.servers, [&](const config::NewServer& one) { return among(locked, one.name); });
  std::erase_if(imported.credentials, [&](const auto& one) { return among(locked, one.first); });
  return {};
}

int import(const ImportOptions& options, const std::string& file) {
  const Result<config::FileText> text = config::read_text(file);
  if (!text) return refuse(text.error().message);
  Result<config::Import> imported = config::import_servers(text->text, file);
  if (!imported) return refuse(imported.error().message);
  const Result<void> allowed = leave_out_locked(*imported);
  if (!allowed) return refuse(allowed.error().message);
  Source source{file, std::move(*imported)};
  const auto existing = options.force ? config::Existing::Replace : config::Existing::Keep;
  const MergeInto merge_into = [&](const std::string& old) {
    return config::merge_servers(old, options.config, source.imported.servers, existing);
  };
  if (source.imported.servers.empty()) {
    for (const config::ImportNote& note : source.imported.notes) refuse(note.text);
    return refuse("'" + file + "' has no server that corral can run. Name another file.");
  }
  bool all_start = true;
  if (options.dry_run || options.trial) {
    const Result<config::FileText> old = current_text(options.config);
    if (!old) return refuse(old.error().message);
    const Result<config::Merge> merge = merge_into(old->text);
    if (!merge) return refuse(merge.error().message);
    if (options.dry_run) {
      tell(options, source, *merge, "");
      return 0;
    }
    all_start = keep_those_that_start(options, source.imported, *merge);
    if (source.imported.servers.empty()) return 1;
  }
  const int code = change(options, source, merge_into);
  return code == 0 && !all_start ? 1 : code;
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
      {"--force", "", "Replace servers that exist already", set_flag(options->force)},
      {"--try", "", "Start each server once before it is added, and ask for its tools",
       set_flag(options->trial)}};
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    if (!rest) return fail("import", rest.error().message);
    if (rest->size() != 1) return fail("import", "name one file, as in `corral import ~/.cursor/mcp.json`");
    if (options->dry_run && options->trial) {
      return fail("import", "--dry-run changes nothing and --try starts servers: give one of them");
    }
    if (options->config.empty()) options->config = config::default_file();
    const int code = import(*options, rest->front());
    return code;
  };
  return command;
}

}  // namespace corral::cli
