#include "cli/screen/session_table.h"

#include "cli/screen/json_view.h"

namespace corral::cli {

void show_session_objects(Page& page, const boost::json::array& sessions) {
  std::vector<std::vector<std::string>> rows;
  for (const boost::json::value& session : sessions) {
    rows.push_back({text(session, "id"), std::to_string(list(session, "attached").size()),
                    text(session, "owner"), age(session, "ttl_ms"), age(session, "age_ms"),
                    age(session, "silent_ms"), words(session, "servers")});
  }
  page.table("  ",
             {{"SESSION"},
              {"ATTACHED", true},
              {"OWNER", true},
              {"TTL", true},
              {"AGE", true},
              {"SILENT", true},
              {"SERVERS", false, true}},
             rows);
}

}  // namespace corral::cli
