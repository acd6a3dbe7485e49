#include "cli/commands/running_clients.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "proc/proc_files.h"
#include "proc/proc_texts.h"
#include "survey/survey.h"

namespace corral::cli {
namespace {

constexpr std::chrono::seconds kUntilTheSecondLook(3);
constexpr std::size_t kLargestEnvironment = std::size_t{1} << 20;

/// Whether the process finds this file as its own configuration.
bool writes(pid_t pid, const adopt::ClientFile& file) {
  const UniqueFd process = proc::open_process(pid);
  const std::optional<std::string> text =
      process.valid() ? proc::read_whole(process.get(), "environ", kLargestEnvironment) : std::nullopt;
  if (!text || text->empty()) return true;
  known::ConfigPlaces places;
  places.environment = proc::parse_strings(*text);
  places.home = variable(places.environment, "HOME");
  for (const known::ConfigFile& row : file.client->configs) {
    const std::vector<known::PlacedFile> placed = known::places_of(row, places);
    const auto same = [&file](const known::PlacedFile& one) { return one.path == file.path; };
    if (std::any_of(placed.begin(), placed.end(), same)) return true;
  }
  return false;
}

void note(std::vector<RunningWriter>& found, const adopt::ClientFile& file, pid_t pid) {
  const auto known = std::find_if(found.begin(), found.end(),
                                  [&file](const RunningWriter& one) { return one.file == file.path; });
  if (known != found.end()) return known->pids.push_back(pid);
  found.push_back({std::string(file.client->name), {pid}, file.path});
}

std::string pids_of(const RunningWriter& writer) {
  std::string list;
  for (const pid_t pid : writer.pids) list += (list.empty() ? "" : ", ") + std::to_string(pid);
  return (writer.pids.size() == 1 ? "pid " : "pids ") + list;
}

/// `lost` names the servers whose change is undone; empty = none so far.
std::string warning_about(const RunningWriter& writer, const std::string& lost) {
  const std::string who = writer.client + " (" + pids_of(writer) + ")";
  if (lost.empty()) {
    return who +
           " is running and writes this file from its memory, which may undo the change. End it, then " +
           "look at `corral adopt --status`.";
  }
  return who + " has written the file from its memory and undone the change of " + lost +
         ". End it, then repeat this command.";
}

}  // namespace

std::vector<RunningWriter> running_writers(const std::vector<adopt::ClientFile>& files) {
  std::vector<RunningWriter> found;
  const auto rewritten = [](const adopt::ClientFile& file) {
    return file.client->rewrites_files && file.scope == known::ConfigScope::User;
  };
  if (std::none_of(files.begin(), files.end(), rewritten)) return found;
  const Result<survey::Survey> survey = survey::look_around();
  if (!survey) return found;
  for (const survey::RunningClient& running : survey->clients) {
    for (const adopt::ClientFile& file : files) {
      if (!rewritten(file) || running.client.id != file.client->id || !writes(running.client.pid, file))
        continue;
      note(found, file, running.client.pid);
    }
  }
  return found;
}

std::vector<std::string> warnings_about(
    const std::vector<RunningWriter>& writers, const std::string& state_directory,
    const std::function<bool(const adopt::LedgerRow&, adopt::Standing)>& is_undone) {
  std::vector<std::string> warnings;
  if (writers.empty()) return warnings;
  std::this_thread::sleep_for(kUntilTheSecondLook);
  const Result<std::vector<adopt::LedgerRow>> rows = adopt::read_ledger(state_directory);
  if (!rows) return warnings;
  const std::vector<adopt::Standing> standings = adopt::compare_with_files(*rows);
  for (const RunningWriter& writer : writers) {
    std::string lost;
    for (std::size_t i = 0; i < rows->size(); ++i) {
      if ((*rows)[i].file != writer.file || !is_undone((*rows)[i], standings[i])) continue;
      lost.append(lost.empty() ? "" : ", ").append(printable((*rows)[i].name()));
    }
    warnings.push_back(warning_about(writer, lost));
  }
  return warnings;
}

}  // namespace corral::cli
