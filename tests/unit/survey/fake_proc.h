// A directory that looks like /proc, for tests of what reads it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace corral::survey {

class FakeProc : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "corral-proc-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string root() const { return root_.string(); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }

  void link(const std::string& name, const std::string& target) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::filesystem::create_symlink(target, root_ / name);
  }

  /// "pid (comm) state parent group session tty tpgid flags … start": what the kernel writes, shortened at
  /// the end.
  static std::string stat_line(int pid, const std::string& comm, int parent, char state = 'S',
                               unsigned flags = 4194304, int threads = 1) {
    return std::to_string(pid) + " (" + comm + ") " + state + " " + std::to_string(parent) +
           " 20 21 34816 -1 " + std::to_string(flags) + " 1 2 3 4 50 60 7 8 20 0 " + std::to_string(threads) +
           " 0 4711 1000 100 18446744073709551615\n";
  }

  /// A process with nothing open.
  void add(int pid, int parent, const std::string& comm = "server") const {
    const std::string directory = std::to_string(pid);
    write(directory + "/stat", stat_line(pid, comm, parent));
    std::filesystem::create_directories(root_ / directory / "fd");
  }

  std::filesystem::path root_;
};

}  // namespace corral::survey
