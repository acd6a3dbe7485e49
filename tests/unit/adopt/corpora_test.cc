// Real files of each client: adopt and release give back the same bytes, and nothing else changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "adopt/adoption.h"
#include "adopt/drift.h"
#include "adopt/samples.h"
#include "known/config_text.h"
#include "known/known_programs.h"
#include "survey/temp_files.h"

namespace corral::adopt {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace json = boost::json;

class Corpus : public survey::TempFiles, public ::testing::WithParamInterface<Sample> {
 protected:
  void SetUp() override {
    file_ = write("home/" + GetParam().path, GetParam().text);
    for (ClientFile& one : find_files({root() + "/home", {}, {}}, {GetParam().client})) files_.push_back(one);
    ASSERT_THAT(files_, SizeIs(1));
    ASSERT_EQ(files_.front().path, file_);
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  FileOutcome adopt(Through through = Through::Connect) const {
    const FileLook look = look_at(files_.front(), through);
    Adopting adopting{files_.front(), {}, through, "/usr/bin/corral"};
    for (const FoundServer& server : look.servers) {
      if (server.judged.verdict == Verdict::Wrap)
        adopting.servers.push_back({server.entry.keys, server.hash});
    }
    return adopt_file(adopting, desk_);
  }

  Desk desk_{root() + "/state", 1'763'500'000'000, {}};
  std::string file_;
  std::vector<ClientFile> files_;
};

TEST_P(Corpus, IsUnderstood) {
  const FileLook look = look_at(files_.front(), Through::Connect);

  EXPECT_EQ(look.error, "");
  std::size_t wrapped = 0;
  std::size_t refused = 0;
  for (const FoundServer& server : look.servers) {
    wrapped += server.judged.verdict == Verdict::Wrap ? 1 : 0;
    refused += server.judged.verdict == Verdict::Refused ? 1 : 0;
    if (server.judged.verdict == Verdict::Refused) {
      EXPECT_NE(server.judged.why, "") << server.entry.name;
    }
    EXPECT_GT(server.entry.line, 0) << server.entry.name;
  }
  EXPECT_EQ(wrapped, GetParam().wrapped);
  EXPECT_EQ(refused, GetParam().refused);
}

TEST_P(Corpus, IsTheSameAfterAdoptAndRelease) {
  for (const Through through : {Through::Connect, Through::Run}) {
    const FileOutcome adopted = adopt(through);
    EXPECT_EQ(adopted.error, "");
    EXPECT_THAT(adopted.refused, IsEmpty());
    EXPECT_THAT(adopted.changed, SizeIs(GetParam().wrapped));
    EXPECT_EQ(text() != GetParam().text, GetParam().wrapped > 0);

    const FileOutcome released = release_file(file_, {}, desk_);

    EXPECT_EQ(released.error, "");
    EXPECT_THAT(released.refused, IsEmpty());
    EXPECT_EQ(released.changed, adopted.changed);
    EXPECT_EQ(text(), GetParam().text);
    EXPECT_THAT(*read_ledger(desk_.state_directory), IsEmpty());
  }
}

TEST_P(Corpus, StartsTheSameCommandThroughCorral) {
  const FileLook before = look_at(files_.front(), Through::Connect);
  adopt();

  const FileLook after = look_at(files_.front(), Through::Connect);

  ASSERT_EQ(after.servers.size(), before.servers.size());
  for (std::size_t i = 0; i < before.servers.size(); ++i) {
    const FoundServer& old = before.servers[i];
    const FoundServer& now = after.servers[i];
    EXPECT_EQ(now.entry.keys, old.entry.keys);
    if (old.judged.verdict != Verdict::Wrap) {
      EXPECT_EQ(now.entry.value, old.entry.value);
      continue;
    }
    std::vector<std::string> wanted = {"/usr/bin/corral"};
    wanted.insert(wanted.end(), old.judged.words.begin(), old.judged.words.end());
    const std::vector<std::string> words = *words_of(old.entry.value);
    wanted.insert(wanted.end(), words.begin(), words.end());
    EXPECT_EQ(*words_of(now.entry.value), wanted);
    EXPECT_EQ(now.judged.verdict, Verdict::Kept);
  }
}

TEST_P(Corpus, IsAdoptedOnce) {
  adopt();
  const std::string once = text();

  const FileOutcome again = adopt();

  EXPECT_THAT(again.changed, IsEmpty());
  EXPECT_THAT(again.refused, IsEmpty());
  EXPECT_EQ(text(), once);
}

TEST_P(Corpus, HasNoCredentialInTheLedger) {
  adopt();

  std::ostringstream ledger;
  ledger << std::ifstream(desk_.state_directory + "/adopted.json").rdbuf();

  for (const char* const secret : {"sk-0123", "ghp_0123", "server-filesystem", "mcp-server-sqlite"}) {
    EXPECT_EQ(ledger.str().find(secret), std::string::npos) << secret;
  }
}

/// A parser reads the file, and a client writes what it has read in its own layout.
TEST_P(Corpus, IsReleasedInTheLayoutOfTheClient) {
  const auto parsed = [this] { return known::parse_config(text(), format_of(file_)).value; };
  if (format_of(file_) == known::ConfigFormat::Toml || GetParam().wrapped == 0) return;
  const json::value before = parsed();
  adopt();
  const std::string in_its_layout = json::serialize(parsed());
  std::ofstream(file_) << in_its_layout;

  const FileOutcome released = release_file(file_, {}, desk_);

  EXPECT_EQ(released.error, "");
  EXPECT_THAT(released.changed, SizeIs(GetParam().wrapped));
  EXPECT_EQ(parsed(), before);
}

/// `text` with a setting more, in front of all others.
std::string with_another_setting(std::string text, known::ConfigFormat format) {
  const bool toml = format == known::ConfigFormat::Toml;
  const std::size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  const std::size_t at = toml ? begin : text.find('{') + 1;
  return text.insert(at, toml ? "set_by_client = true\n" : "\"set_by_client\": {\"command\": 1}, ");
}

TEST_P(Corpus, KeepsWhatTheClientChangesElsewhereByteForByte) {
  if (GetParam().text.empty()) return;
  adopt();
  const std::string changed = with_another_setting(text(), format_of(file_));
  std::ofstream(file_) << changed;

  const FileOutcome released = release_file(file_, {}, desk_);

  EXPECT_EQ(released.error, "");
  EXPECT_THAT(released.changed, SizeIs(GetParam().wrapped));
  EXPECT_EQ(text(), with_another_setting(GetParam().text, format_of(file_)));
}

TEST(Corpora, HaveServersOfEveryClientThatHasAFile) {
  for (const known::KnownClient& client : known::known_clients()) {
    const bool has_file = std::any_of(
        client.configs.begin(), client.configs.end(),
        [](const known::ConfigFile& file) { return known::scope_of(file) == known::ConfigScope::User; });
    const bool has_sample = std::any_of(kSamples.begin(), kSamples.end(), [&client](const Sample& sample) {
      return sample.client == client.id && sample.wrapped > 0;
    });
    EXPECT_EQ(has_sample, has_file) << client.id;
  }
}

INSTANTIATE_TEST_SUITE_P(Clients, Corpus, ::testing::ValuesIn(kSamples),
                         [](const auto& row) { return row.param.title; });

}  // namespace
}  // namespace corral::adopt
