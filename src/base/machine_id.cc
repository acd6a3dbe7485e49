#include "base/machine_id.h"

#include "base/read_text.h"

namespace corral {

std::string machine_id() {
  std::string text = read_text("/etc/machine-id");
  if (text.empty()) text = read_text("/var/lib/dbus/machine-id");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace corral
