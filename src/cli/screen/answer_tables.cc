#include "cli/screen/answer_tables.h"

#include "cli/screen/json_view.h"
#include "cli/screen/overview.h"

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

bool has_sessions(const boost::json::value& result) {
  const boost::json::value* const sessions = member(result, "sessions");
  return sessions == nullptr || text(result, "sessions") != "0";
}

void show_session_objects(Page& page, const std::vector<observe::SessionObjectView>& objects) {
  std::vector<std::vector<std::string>> rows;
  for (const observe::SessionObjectView& object : objects) {
    rows.push_back({shown(object.id), std::to_string(object.attached.size()),
                    shown_pid(object.owner.value_or(0)), shown_age(object.ttl), shown_age(object.age),
                    shown_age(object.silent), shown_list(object.servers)});
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
