// The server that all measurements talk to. It answers a JSON-RPC request per line with the least work that
// is still an answer, so that what is left in a measurement is the way to it: initialize, tools/list, and the
// tools echo (its text) and blob (so many letters). For the kill measurements it first becomes a tree of
// processes.
//
//   echo_server [--modern] [--delay=MS] [--flat=N | --ternary=N] [--scatter] [--stubborn]
//               [--lifetime=SECONDS] [--tag=TEXT]
//
// --modern: it speaks revision 2026-07-28 and knows no initialize. --delay: so long it starts before it
// reads. N counts all processes, this one included. --scatter puts each process into a session of its own.
// --stubborn ignores SIGTERM and the end of stdin. Every process ends by itself after its lifetime. --tag is
// only there to be seen in /proc.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace {

struct Settings {
  long flat = 0;
  long ternary = 0;
  bool scatter = false;
  bool stubborn = false;
  bool modern = false;
  long delay_ms = 0;
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
    } else if (strncmp(arg, "--delay=", 8) == 0) {
      settings.delay_ms = atol(arg + 8);
    } else if (strcmp(arg, "--modern") == 0) {
      settings.modern = true;
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

bool write_all(std::string_view data) {
  while (!data.empty()) {
    const ssize_t wrote = write(1, data.data(), data.size());
    if (wrote <= 0) return false;
    data.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

// What follows `key`, up to one of `ends`. Our clients and corral write no spaces, and none of the keys
// in a text, so a search is enough of a parser.
std::string_view behind(std::string_view line, std::string_view key, std::string_view ends) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  // One character is searched with memchr, which matters for a text of a megabyte.
  return line.substr(0, ends.size() == 1 ? line.find(ends[0]) : line.find_first_of(ends));
}

// What a modern server says in addition: in each result, and in each list.
constexpr std::string_view kComplete = R"({"resultType":"complete",)";
constexpr std::string_view kCacheHints = R"("ttlMs":0,"cacheScope":"private",)";
constexpr std::string_view kDiscovered =
    R"("supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},)"
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo_server","version":"1"}}})";

// Results without their opening brace.
constexpr std::string_view kTools =
    R"("tools":[{"name":"echo","description":"Answers with its text","inputSchema":{"type":"object",)"
    R"("properties":{"text":{"type":"string"}}},"annotations":{"readOnlyHint":true}},)"
    R"({"name":"blob","description":"Answers with so many letters","inputSchema":{"type":"object",)"
    R"("properties":{"bytes":{"type":"integer"},"fill":{"type":"string"}}},)"
    R"("annotations":{"readOnlyHint":true}}]})";

constexpr std::string_view kTextOpen = R"("content":[{"type":"text","text":")";
constexpr std::string_view kTextClose = R"("}]})";

void add_initialize(std::string& out, std::string_view line) {
  const std::string_view version = behind(line, R"("protocolVersion":")", "\"");
  out += R"("protocolVersion":")";
  out += version.empty() ? "2025-11-25" : version;
  out += R"(","capabilities":{"tools":{}},"serverInfo":{"name":"echo_server","version":"1"}})";
}

void add_call(std::string& out, std::string_view line) {
  out += kTextOpen;
  if (line.find(R"("name":"blob")") != std::string_view::npos) {
    const size_t bytes = strtoul(behind(line, R"("bytes":)", ",}").data(), nullptr, 10);
    const std::string_view fill = behind(line, R"("fill":")", "\"");
    out.append(bytes, fill.empty() ? 'x' : fill[0]);
  } else {
    out += behind(line, R"("text":")", "\"");
  }
  out += kTextClose;
}

void add_result(std::string& out, std::string_view line, std::string_view method, bool modern) {
  out += modern ? kComplete : "{";
  if (modern && (method == "tools/list" || method == "server/discover")) out += kCacheHints;
  if (method == "initialize") {
    add_initialize(out, line);
  } else if (method == "server/discover") {
    out += kDiscovered;
  } else if (method == "tools/list") {
    out += kTools;
  } else if (method == "tools/call") {
    add_call(out, line);
  } else {
    out += modern ? R"("_meta":{}})" : "}";
  }
}

// News of lists that do not exist, with names of a megabyte.
void add_news(std::string& out) {
  constexpr int kNews = 8;
  for (int i = 0; i < kNews; ++i) {
    out += R"({"jsonrpc":"2.0","method":"notifications/)";
    out.append(size_t{1} << 20, static_cast<char>('a' + i));
    out += "/list_changed\"}\n";
  }
}

void add_answer(std::string& out, std::string_view line, bool modern) {
  const std::string_view head = line.substr(0, 512);  // the id comes before what can be large
  const std::string_view id = behind(head, R"("id":)", ",}");
  if (id.empty()) return;
  const std::string_view method = behind(head, R"("method":")", "\"");
  if (method == "bench/news") add_news(out);
  out += R"({"jsonrpc":"2.0","id":)";
  out += id;
  if (method == (modern ? "initialize" : "server/discover")) {
    out += R"(,"error":{"code":-32601,"message":"this server is of the other era"})";
  } else {
    out += R"(,"result":)";
    add_result(out, line, method, modern);
  }
  out += "}\n";
}

// All lines of one read are answered in one write: with many clients before it, a server that is slower than
// it must be would hide what the way to it costs.
void serve(bool modern) {
  std::string buffer(size_t{1} << 16, '\0');
  size_t filled = 0;
  std::string out;
  for (;;) {
    if (filled == buffer.size()) buffer.resize(2 * buffer.size());
    const ssize_t got = read(0, buffer.data() + filled, buffer.size() - filled);
    if (got <= 0) return;
    const size_t before = filled;
    filled += static_cast<size_t>(got);
    std::string_view rest(buffer.data(), filled);
    for (size_t searched = before;; searched = 0) {
      const size_t end = rest.find('\n', searched);
      if (end == std::string_view::npos) break;
      add_answer(out, rest.substr(0, end), modern);
      rest.remove_prefix(end + 1);
    }
    if (!out.empty() && !write_all(out)) return;
    out.clear();
    filled = rest.size();
    if (!rest.empty()) memmove(buffer.data(), rest.data(), filled);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  alarm(settings.lifetime);
  if (settings.stubborn) signal(SIGTERM, SIG_IGN);
  build_tree(settings);
  if (settings.delay_ms > 0) usleep(static_cast<useconds_t>(settings.delay_ms) * 1000);
  serve(settings.modern);
  while (settings.stubborn) pause();
  return 0;
}
