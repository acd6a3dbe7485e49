#include "cli/commands/reap_options.h"

#include <csignal>

#include "base/keep_limit.h"
#include "base/text.h"
#include "cli/frame/option_values.h"
#include "serve/config_source.h"
#include "survey/findings.h"

namespace corral::cli {
namespace {

Apply choosing(reap::Selectors& selectors, Apply apply) {
  return [&selectors, apply = std::move(apply)](const std::string& text) {
    selectors.explicit_choice = true;
    return apply(text);
  };
}

}  // namespace

std::vector<Option> selector_options(reap::Selectors& selectors, std::optional<std::size_t>& keep) {
  const auto chosen = [&selectors](Apply apply) { return choosing(selectors, std::move(apply)); };
  return {
      {"--orphans", "", "All servers whose client has exited or closed their pipes, whatever --keep is",
       chosen(set_flag(selectors.orphans))},
      {"--pile-ups", "", "Copies of one command beyond the N newest that one running client holds",
       chosen(set_flag(selectors.pile_ups))},
      {"--keep", "N", "How many copies a client may hold (corral.keep, MAX_KEEP_PROCESSES or 9)",
       chosen(set_count(keep, "number of copies"))},
      {"--client", "CLIENT", "Only servers of this client, such as codex or 'Claude Code'",
       chosen(set_word(selectors.client))},
      {"--match", "TEXT", "Only servers with this text in their name or command line",
       chosen(set_word(selectors.match))},
      {"--older-than", "TIME", "Only servers that have run for at least this long, such as 30m, 2h or 3d",
       chosen(set_age(selectors.older_than))},
      {"--parent", "PID", "Only servers of the client with this pid", chosen(set_pid(selectors.parent))},
      {"--possible", "", "Also processes that only look like MCP servers; check them with `corral who` first",
       set_flag(selectors.possible)},
  };
}

std::string explain(const reap::Outcome& outcome) {
  switch (outcome.kind) {
    case reap::Outcome::Kind::Ended: return "ended by " + std::string(signal_name(outcome.signal));
    case reap::Outcome::Kind::AlreadyGone: return "was already gone";
    case reap::Outcome::Kind::NoPermission:
      return "cannot be signalled: it has privileges that you do not have; end it as root";
    case reap::Outcome::Kind::Uninterruptible:
      return "is blocked in the kernel and cannot be interrupted; it ends when the file system or device "
             "answers";
    case reap::Outcome::Kind::StillThere:
      return "is still running after SIGKILL; inspect it with `corral who " + std::to_string(outcome.pid) +
             "`";
    case reap::Outcome::Kind::NotProved: return "may be another process by now, so it was left alone";
    case reap::Outcome::Kind::OtherUser: return "belongs to another user: run corral as that user";
    case reap::Outcome::Kind::Debugged: return "is being debugged: detach the debugger first";
    case reap::Outcome::Kind::OwnAncestor: return "is an ancestor of this command";
    case reap::Outcome::Kind::OtherInstance:
      return "belongs to another corral below it, whose keeper is running";
  }
  return "?";
}

std::string typed(const reap::Selectors& selectors) {
  std::string text;
  if (selectors.orphans) text += " --orphans";
  if (selectors.pile_ups) text += " --pile-ups";
  if (selectors.keep != kDefaultKeep) text += " --keep " + std::to_string(selectors.keep);
  if (!selectors.client.empty()) text += " --client " + shell_word(selectors.client);
  if (!selectors.match.empty()) text += " --match " + shell_word(selectors.match);
  if (selectors.older_than.count() > 0)
    text += " --older-than " + std::to_string(selectors.older_than.count()) + "ms";
  if (selectors.parent != 0) text += " --parent " + std::to_string(selectors.parent);
  if (selectors.possible) text += " --possible";
  return text;
}

const char* signal_name(int signo) { return signo == SIGKILL ? "SIGKILL" : "SIGTERM"; }

Result<std::size_t> keep_count(const std::optional<std::size_t>& given) {
  if (given) return *given;
  const Result<std::size_t> from_environment = keep_from_environment();
  if (!from_environment) return from_environment.error();
  const Result<config::Configuration> configuration = serve::ConfigSource("").read();
  return keep_in_use(configuration ? configuration->options.keep : *from_environment);
}

}  // namespace corral::cli
