// A directory of its own for a test, gone at its end.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace corral::survey {

class TempFiles : public ::testing::Test {
 protected:
  TempFiles() {
    std::string name = std::filesystem::temp_directory_path().string() + "/corral-survey-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = std::filesystem::canonical(name).string();
  }
  ~TempFiles() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  /// Writes a file below the directory, with all directories above it; returns its path.
  std::string write(const std::string& path, const std::string& text) const {
    const std::string whole = path.starts_with(root_) ? path : root_ + "/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << text;
    return whole;
  }

  void link(const std::string& path, const std::string& target) const {
    const std::string whole = root_ + "/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::filesystem::create_symlink(target, whole);
  }

  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace corral::survey
