#include "cli/screen/sharing_text.h"

#include "cli/screen/overview.h"

namespace corral::cli {

std::vector<std::string> sharing_lines(const observe::InstanceView& instance) {
  // An older daemon sends less.
  std::vector<std::string> lines{instance.reason.empty() ? shown(instance.share) : instance.reason};
  if (!instance.root.empty() && lines.front().find(instance.root) == std::string::npos) {
    lines.push_back("for the project " + instance.root);
  }
  if (!instance.separate.empty()) lines.push_back(instance.separate);
  if (!instance.hint.empty()) lines.push_back(instance.hint);
  return lines;
}

}  // namespace corral::cli
