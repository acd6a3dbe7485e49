// The server that all measurements talk to. It answers a JSON-RPC request per line with the least work that
// is still an answer, so that what is left in a measurement is the way to it. For the kill measurements it
// first becomes a tree of processes.
//
//   echo_server [--flat=N | --ternary=N] [--scatter] [--stubborn] [--lifetime=SECONDS] [--tag=TEXT]
//
// N counts all processes, this one included. --scatter puts each process into a session of its own.
// --stubborn ignores SIGTERM and the end of stdin. Every process ends by itself after its lifetime. --tag is
// only there to be seen in /proc.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

struct Settings {
  long flat = 0;
  long ternary = 0;
  bool scatter = false;
  bool stubborn = false;
  unsigned lifetime = 60;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const char* arg = argv[i];
    if (strncmp(arg, "--flat=", 7) == 0) {
      settings.flat = atol(arg + 7);
    } else if (strncmp(arg, "--ternary=", 10) == 0) {
      settings.ternary = atol(arg + 10);
    } else if (strncmp(arg, "--lifetime=", 11) == 0) {
      settings.lifetime = static_cast<unsigned>(atol(arg + 11));
    } else if (strcmp(arg, "--scatter") == 0) {
      settings.scatter = true;
    } else if (strcmp(arg, "--stubborn") == 0) {
      settings.stubborn = true;
    } else if (strncmp(arg, "--tag=", 6) != 0) {
      fprintf(stderr, "echo_server: unknown argument %s\n", arg);
      exit(2);
    }
  }
  return settings;
}

// alarm() is not inherited by fork, so each process arms its own.
void become_member(const Settings& settings, int ready) {
  alarm(settings.lifetime);
  if (settings.scatter) setsid();
  const char byte = '.';
  if (write(ready, &byte, 1) != 1) _exit(3);
}

[[noreturn]] void stay() {
  // Holding the client's pipes would keep its reader waiting for as long as a member lives.
  for (int fd = 0; fd < 3; ++fd) close(fd);
  for (;;) pause();
}

void build_flat(const Settings& settings, int ready) {
  for (long i = 1; i < settings.flat; ++i) {
    const pid_t child = fork();
    if (child < 0) _exit(4);
    if (child == 0) {
      become_member(settings, ready);
      close(ready);
      stay();
    }
  }
}

// Heap order: process i has the children 3i+1, 3i+2 and 3i+3. Returns only in process 0.
void build_ternary(const Settings& settings, int ready) {
  long self = 0;
  for (long child_index = 1; child_index <= 3; ++child_index) {
    const long index = 3 * self + child_index;
    if (index >= settings.ternary) break;
    const pid_t child = fork();
    if (child < 0) _exit(4);
    if (child == 0) {
      become_member(settings, ready);
      self = index;
      child_index = 0;  // the child goes on with its own three
    }
  }
  if (self != 0) {
    close(ready);
    stay();
  }
}

// Returns once every process of the tree has said that it exists.
void build_tree(const Settings& settings) {
  const long members = settings.flat > 0 ? settings.flat : settings.ternary;
  if (members <= 1) return;
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) _exit(4);
  if (settings.flat > 0) {
    build_flat(settings, fds[1]);
  } else {
    build_ternary(settings, fds[1]);
  }
  close(fds[1]);
  char bytes[512];
  for (long seen = 0; seen < members - 1;) {
    const ssize_t got = read(fds[0], bytes, sizeof bytes);
    if (got <= 0) _exit(4);  // a member died early: better no answer than a smaller tree
    seen += got;
  }
  close(fds[0]);
}

bool write_all(const char* data, size_t size) {
  while (size > 0) {
    const ssize_t wrote = write(1, data, size);
    if (wrote <= 0) return false;
    data += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

// The id is the only part of a request that matters here, and our own client writes `"id":` exactly once.
bool answer(const char* line, size_t size) {
  static constexpr char kKey[] = "\"id\":";
  const char* id = static_cast<const char*>(memmem(line, size, kKey, sizeof kKey - 1));
  if (id == nullptr) return true;
  id += sizeof kKey - 1;
  const char* end = id;
  while (end < line + size && *end != ',' && *end != '}') ++end;
  char reply[256];
  const int length =
      snprintf(reply, sizeof reply, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"ok\":true}}\n",
               static_cast<int>(end - id), id);
  return length > 0 && static_cast<size_t>(length) < sizeof reply &&
         write_all(reply, static_cast<size_t>(length));
}

void serve() {
  char buffer[65536];
  size_t filled = 0;
  for (;;) {
    const ssize_t got = read(0, buffer + filled, sizeof buffer - filled);
    if (got <= 0) return;
    filled += static_cast<size_t>(got);
    char* line = buffer;
    for (;;) {
      const size_t left = filled - static_cast<size_t>(line - buffer);
      char* newline = static_cast<char*>(memchr(line, '\n', left));
      if (newline == nullptr) break;
      if (!answer(line, static_cast<size_t>(newline - line))) return;
      line = newline + 1;
    }
    filled -= static_cast<size_t>(line - buffer);
    if (filled == sizeof buffer) return;
    memmove(buffer, line, filled);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  alarm(settings.lifetime);
  if (settings.stubborn) signal(SIGTERM, SIG_IGN);
  build_tree(settings);
  serve();
  while (settings.stubborn) pause();
  return 0;
}
