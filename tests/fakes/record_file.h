// A registry that is a file: each call appends one line in one write, so that a test that reads it after
// a SIGKILL finds every call that had returned, and no half of one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "registry/registry.h"

namespace corral::fakes {

class RecordFile : public registry::Registry {
 public:
  explicit RecordFile(std::string path) : path_(std::move(path)) {}

  void begin(const registry::DaemonRecord& daemon) override;
  void end(const std::string& daemon) override;
  std::vector<registry::Unfinished> unfinished(const std::string& except) override;
  void journal(const registry::InstanceRecord& instance) override;
  void instance_ended(const std::string& id, std::int64_t ended_ms, const std::string& cause) override;

  const std::string& degraded() const override { return whole_; }
  void when_degraded(std::function<void()>) override {}
  void forget(const std::string&) override {}
  void keep(const registry::SessionRecord&) override {}
  void keep(const events::Event&) override {}
  void flush() override {}
  std::vector<events::Event> events_after(std::uint64_t, std::size_t) override { return {}; }
  std::uint64_t last_event() override { return 0; }
  std::vector<registry::SessionRecord> past_sessions(std::size_t) override { return {}; }
  std::optional<std::string> manifest(const std::string&) override { return std::nullopt; }
  void keep_manifest(const std::string&, const std::string&, const std::string&) override {}

 private:
  void append(const std::string& line) const;

  std::string path_;
  std::string whole_;
};

}  // namespace corral::fakes
