// A directory of its own for commands that read and write files; what they show names it by ~.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cli/told_daemon.h"

namespace corral::cli {

inline std::string new_folder() {
  std::string name = testing::TempDir() + "filesXXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
  return name;
}

class FileCommands : public testing::Test {
 protected:
  ~FileCommands() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
  }
  /// The directory's own name differs each time.
  std::string plain(std::string text) const {
    for (std::size_t at = 0; (at = text.find(folder_)) != std::string::npos;)
      text.replace(at, folder_.size(), "~");
    return text;
  }
  Seen run(std::vector<std::string> words) {
    Seen seen = run_command(std::move(words));
    seen.out = plain(seen.out);
    seen.errors = plain(seen.errors);
    return seen;
  }
  Seen ask(const ToldDaemon& daemon, std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--runtime-dir", daemon.runtime_dir()});
    return run(std::move(words));
  }
  Seen change(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--config", config_, "--runtime-dir", folder_ + "/nowhere"});
    return run(std::move(words));
  }

  const std::string folder_ = new_folder();
  const std::string config_ = folder_ + "/corral.json";
  // Outputs then name the directory by ~, and nobody's own configuration is looked at.
  SetVariable home_{"HOME", folder_};
  SetVariable config_home_{"XDG_CONFIG_HOME", folder_};
  SetVariable state_home_{"XDG_STATE_HOME", folder_ + "/state"};
};

}  // namespace corral::cli
