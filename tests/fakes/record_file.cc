#include "record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

namespace corral::fakes {
namespace {

/// Empty texts stand as "-": the fields are words.
std::string word(const std::string& text) { return text.empty() ? "-" : text; }

std::string text_of(const std::string& word) { return word == "-" ? "" : word; }

std::string in_hex(const std::string& bytes) {
  std::ostringstream out;
  for (const char byte : bytes) {
    out << std::hex << std::setw(2) << std::setfill('0')
        << static_cast<unsigned>(static_cast<unsigned char>(byte));
  }
  return word(out.str());
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::string show(const registry::ProcessFacts& facts) {
  std::ostringstream out;
  out << facts.pid << ' ' << facts.pidfs_inode << ' ' << facts.start_ticks << ' ' << facts.uid << ' '
      << in_hex(facts.handle);
  return out.str();
}

registry::ProcessFacts take_facts(std::istream& in) {
  registry::ProcessFacts facts;
  std::string handle;
  in >> facts.pid >> facts.pidfs_inode >> facts.start_ticks >> facts.uid >> handle;
  if (handle != "-") facts.handle = from_hex(handle);
  return facts;
}

}  // namespace

void RecordFile::append(const std::string& line) const {
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string whole = line + '\n';
  if (write(file, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) _exit(99);
  close(file);
}

void RecordFile::begin(const registry::DaemonRecord& daemon) {
  append("begin " + daemon.id + ' ' + word(daemon.boot_id) + ' ' + std::to_string(daemon.pid_namespace) +
         ' ' + show(daemon.process));
}

void RecordFile::end(const std::string& daemon) { append("end " + daemon); }

void RecordFile::journal(const registry::InstanceRecord& instance) {
  append("journal " + instance.id + ' ' + instance.daemon + ' ' + instance.server + ' ' +
         word(instance.cgroup) + ' ' + std::to_string(instance.rlimit_tag) + ' ' + show(instance.keeper) +
         ' ' + show(instance.process));
}

void RecordFile::instance_ended(const std::string& id, std::int64_t, const std::string&) {
  append("ended " + id);
}

std::vector<registry::Unfinished> RecordFile::unfinished(const std::string& except) {
  std::map<std::string, registry::Unfinished> daemons;
  std::map<std::string, registry::InstanceRecord> open;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string call;
    std::string id;
    in >> call >> id;
    if (call == "begin") {
      registry::DaemonRecord& daemon = daemons[id].daemon;
      daemon.id = id;
      in >> daemon.boot_id >> daemon.pid_namespace;
      daemon.process = take_facts(in);
    } else if (call == "journal") {
      registry::InstanceRecord& instance = open[id];
      instance.id = id;
      in >> instance.daemon >> instance.server >> instance.cgroup >> instance.rlimit_tag;
      instance.cgroup = text_of(instance.cgroup);
      instance.keeper = take_facts(in);
      instance.process = take_facts(in);
    } else if (call == "ended") {
      open.erase(id);
    } else if (call == "end") {
      daemons.erase(id);
    }
  }
  std::vector<registry::Unfinished> left;
  for (auto& [id, daemon] : daemons) {
    if (id == except) continue;
    for (const auto& [instance, record] : open) {
      if (record.daemon == id) daemon.instances.push_back(record);
    }
    left.push_back(std::move(daemon));
  }
  return left;
}

}  // namespace corral::fakes
