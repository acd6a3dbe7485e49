// The only file of an image that the podman test imports: static, answers each line, and does not end with
// its input, so that only the removal of the container ends it.
#include <unistd.h>

#include <cstring>

#include "lifetime.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--end-at-once") == 0) return 0;
  corral::fakes::end_by_itself(corral::fakes::Deadline::in_seconds(60));
  char bytes[4096];
  for (ssize_t got = read(0, bytes, sizeof bytes); got > 0; got = read(0, bytes, sizeof bytes)) {
    static const char kAnswer[] = "{\"id\":0,\"result\":\"from the container\"}\n";
    if (std::memchr(bytes, '\n', static_cast<std::size_t>(got)) == nullptr) continue;
    if (write(1, kAnswer, sizeof kAnswer - 1) < 0) return 1;
  }
  corral::fakes::idle_for_ever();
}
