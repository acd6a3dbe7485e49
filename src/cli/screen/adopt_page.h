// What `corral adopt` and `corral release` show: the servers of a client's file with the change of each, and
// what became of it. As text for people and as JSON. No argument that may be a credential is shown.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "adopt/adoption.h"
#include "adopt/client_file.h"
#include "adopt/drift.h"
#include "cli/screen/page.h"

namespace corral::cli {

/// The lines before and after, as the file has them: "- "command": "npx"". Secrets are hidden.
std::vector<std::string> diff_of(const adopt::FoundServer& server, const std::string& program,
                                 known::ConfigFormat format);

/// A file with its servers. `program` is what goes in front of them.
void show_look(Page& page, const adopt::FileLook& look, const std::string& program);

/// What adopt or release has done to a file, in sentences; `done` is "adopted" or "released".
void show_outcome(Page& page, const std::string& path, const adopt::FileOutcome& outcome,
                  const std::string& done);

/// What one `corral adopt` has changed in all files.
struct AdoptSummary {
  std::size_t adopted = 0;                           // servers
  std::size_t left_alone = 0;                        // servers and files; each was named before
  std::vector<const known::KnownClient*> clients{};  // in which something was changed, each once
};

/// The end of the page: how much was done, and how to take it back.
void show_summary(Page& page, const AdoptSummary& summary);

/// The rows of the ledger with what is there now, and how many servers could be adopted.
void show_status(Page& page, const std::vector<adopt::LedgerRow>& rows,
                 const std::vector<adopt::Standing>& standings, const std::vector<adopt::FileLook>& looks);

boost::json::object json_of(const adopt::FileLook& look);
boost::json::object json_of(const std::string& path, const adopt::FileOutcome& outcome);
boost::json::object json_of(const adopt::LedgerRow& row, adopt::Standing standing);

}  // namespace corral::cli
