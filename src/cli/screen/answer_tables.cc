#include "cli/screen/answer_tables.h"

#include "cli/screen/json_view.h"

namespace corral::cli {

void show_gone(Page& page, const boost::json::value& result) {
  for (const boost::json::value& gone : list(result, "ended")) {
    const std::string processes = text(gone, "processes");
    page.paragraph(
        "  ", text(gone, "server") + " " + text(gone, "instance").substr(0, 8) + " " + text(gone, "end") +
                  ": " + processes + (processes == "1" ? " process, " : " processes, ") +
                  (flag(gone, "proved") ? "gone" : "NOT proved gone") + " after " + text(gone, "ms") + " ms");
  }
}

void show_session_objects(Page& page, const boost::json::array& sessions) {
  std::vector<std::vector<std::string>> rows;
  for (const boost::json::value& session : sessions) {
    rows.push_back({text(session, "id"), std::to_string(list(session, "attached").size()),
                    text(session, "owner"), age(session, "ttl_ms"), age(session, "age_ms"),
                    age(session, "silent_ms"), joined(session, "servers")});
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
