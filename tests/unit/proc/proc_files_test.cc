#include "proc/proc_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <set>

#include "survey/fake_proc.h"

namespace corral::proc {
namespace {

class ProcFiles : public survey::FakeProc {
 protected:
  std::optional<std::string> whole(const std::string& name, std::size_t most) const {
    return read_whole(AT_FDCWD, (root() + "/" + name).c_str(), most);
  }
};

TEST_F(ProcFiles, AreReadWholeUpToABound) {
  const std::string text = std::string(65536, 'a') + std::string(65536, 'b') + "c";
  write("long", text);
  write("empty", "");

  EXPECT_EQ(whole("long", 1 << 20), text);
  EXPECT_EQ(whole("long", 65536), text.substr(0, 65536));
  EXPECT_EQ(whole("long", 65537), text.substr(0, 65537));
  EXPECT_EQ(whole("long", 131073), text);
  EXPECT_EQ(whole("long", 0), "");
  EXPECT_EQ(whole("empty", 10), "");
  EXPECT_EQ(whole("missing", 10), std::nullopt);
  EXPECT_EQ(whole("", 10), std::nullopt) << "a folder";
}

TEST_F(ProcFiles, AreReadOnceAsFarAsThereIsRoom) {
  write("file", "hello");
  write("empty", "");
  char buffer[4];
  const std::string path = root() + "/";

  EXPECT_EQ(read_once(AT_FDCWD, (path + "file").c_str(), buffer), "hell");
  EXPECT_EQ(read_once(AT_FDCWD, (path + "empty").c_str(), buffer), "");
  EXPECT_EQ(read_once(AT_FDCWD, (path + "missing").c_str(), buffer), std::nullopt);
  EXPECT_EQ(read_once(AT_FDCWD, path.c_str(), buffer), std::nullopt) << "a folder";
}

TEST_F(ProcFiles, LinksAreReadAndNotFollowed) {
  link("link", "pipe:[7]");

  EXPECT_EQ(read_link(AT_FDCWD, (root() + "/link").c_str()), "pipe:[7]");
  EXPECT_EQ(read_link(AT_FDCWD, (root() + "/missing").c_str()), "");
}

TEST_F(ProcFiles, NamesOfADirectoryComeEachOnce) {
  std::set<std::string> expected{".", ".."};
  for (int i = 0; i < 300; ++i) {  // more than fit into one read
    expected.insert("a-name-of-forty-letters-or-so-and-more-" + std::to_string(i));
  }
  for (const std::string& name : expected) {
    if (!name.starts_with(".")) write(name, "");
  }
  const UniqueFd directory = open_directory(AT_FDCWD, root().c_str());
  DirectoryNames names(directory.get());

  std::multiset<std::string> seen;
  for (const char* name = names.next(); name != nullptr; name = names.next()) seen.insert(name);

  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), expected);
  EXPECT_EQ(seen.size(), expected.size());
  EXPECT_EQ(names.next(), nullptr);
  EXPECT_EQ(DirectoryNames(-1).next(), nullptr);
}

TEST_F(ProcFiles, NumbersOfADirectorySkipEverythingElse) {
  for (const char* name : {"1", "10", "0", "-5", "12x", "self", "x12", "99999999999"}) write(name, "");
  const UniqueFd directory = open_directory(AT_FDCWD, root().c_str());
  DirectoryNames names(directory.get());

  std::set<int> seen;
  while (const std::optional<int> number = names.next_number()) seen.insert(*number);

  EXPECT_EQ(seen, (std::set<int>{0, 1, 10}));
}

TEST_F(ProcFiles, PidsAreListedAgainFromTheStart) {
  for (const char* pid : {"7", "8"}) add(std::stoi(pid), 1);
  write("loadavg", "");
  write("0/stat", "");
  const UniqueFd directory = open_directory(AT_FDCWD, root().c_str());

  for (int time = 0; time < 2; ++time) {
    const std::vector<pid_t> pids = pids_in(directory.get());
    EXPECT_EQ(std::set<pid_t>(pids.begin(), pids.end()), (std::set<pid_t>{7, 8}));
  }
  EXPECT_TRUE(pids_in(-1).empty());
}

TEST_F(ProcFiles, OfAProcessAreReadThroughItsDirectory) {
  add(7, 1);
  std::array<char, 512> buffer{};
  uid_t owner = geteuid() + 1;

  const UniqueFd process = open_process(7, root());
  ASSERT_TRUE(process.valid());
  EXPECT_EQ(read_once(process.get(), "stat", buffer, &owner), stat_line(7, "server", 1));
  EXPECT_EQ(owner, geteuid());
  EXPECT_FALSE(open_process(8, root()).valid()) << "gone";
}

}  // namespace
}  // namespace corral::proc
