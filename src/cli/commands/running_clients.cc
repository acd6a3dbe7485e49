#include "cli/commands/running_clients.h"

#include <algorithm>

#include "base/text.h"
#include "proc/proc_files.h"
#include "proc/proc_texts.h"
#include "survey/survey.h"

namespace corral::cli {
namespace {

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
      found.push_back({std::string(file.client->name), running.client.pid, file.path});
    }
  }
  return found;
}

}  // namespace corral::cli
