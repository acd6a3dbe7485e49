#include "bridge/vocabulary.h"

#include <gtest/gtest.h>

#include "bridge/legacy_client.h"
#include "bridge/legacy_words.h"

namespace corral::bridge {
namespace {

std::string said_to(const std::string& version, std::string_view method, const std::string& result) {
  return changed(result, result_changes(method, result, legacy_vocabulary(version)));
}

const std::string kAudio = R"({"type":"audio","mimeType":"audio/wav","data":"x","annotations":{"a":1}})";
const std::string kAudioNote =
    R"({"type":"text","text":"[Audio (audio/wav) left out: this client's version of MCP )"
    R"(has no audio content.]",)"
    R"("annotations":{"a":1}})";
const std::string kLink = R"({"type":"resource_link","uri":"u","name":"n"})";
const std::string kLinkNote = "{\"type\":\"text\",\"text\":\"Resource: u (n)\"}";

TEST(Vocabulary, GrowsWithTheRevision) {
  const std::string content = R"({"content":[)" + kAudio + "," + kLink + R"(],"structuredContent":{"x":1}})";
  EXPECT_EQ(said_to("2024-11-05", "tools/call", content),
            R"({"content":[)" + kAudioNote + "," + kLinkNote + "]}");
  EXPECT_EQ(said_to("2025-03-26", "tools/call", content),
            R"({"content":[)" + kAudio + "," + kLinkNote + "]}");
  EXPECT_EQ(said_to("2025-06-18", "tools/call", content), content);
  EXPECT_EQ(said_to("2025-11-25", "tools/call", content), content);
}

TEST(Vocabulary, OfALinkSaysWhatIsKnownOfIt) {
  const auto note = [](const std::string& members) {
    return said_to("2024-11-05", "tools/call", R"({"content":[{"type":"resource_link")" + members + "}]}");
  };
  EXPECT_EQ(note(""), R"({"content":[{"type":"text","text":"Resource: without a URI"}]})");
  EXPECT_EQ(note(R"(,"uri":"u","name":"n","title":"t","description":"d")"),
            R"({"content":[{"type":"text","text":"Resource: u (t)\nd"}]})");
}

TEST(Vocabulary, OfAudioOfNoTypeSaysSo) {
  EXPECT_EQ(
      said_to("2024-11-05", "tools/call", R"({"content":[{"type":"audio"}]})"),
      R"({"content":[{"type":"text","text":"[Audio (of unknown type) left out: this client's version of )"
      R"(MCP has no audio content.]"}]})");
}

TEST(Vocabulary, HoldsForTheMessagesOfPromptsWhetherTheirContentIsOneBlockOrMany) {
  EXPECT_EQ(
      said_to("2025-03-26", "prompts/get",
              R"({"messages":[{"role":"user","content":)" + kLink + R"(},{"content":[)" + kLink + "]}]}"),
      R"({"messages":[{"role":"user","content":)" + kLinkNote + R"(},{"content":[)" + kLinkNote + "]}]}");
}

TEST(Vocabulary, LeavesOtherMethodsAndMembersAlone) {
  for (const char* method : {"resources/read", "tools/list", "prompts/list"}) {
    const std::string result = R"({"content":[)" + kAudio + R"(],"messages":[{"content":)" + kLink + "}]}";
    EXPECT_EQ(said_to("2024-11-05", method, result), result) << method;
  }
  const std::string other = R"({"other":[)" + kAudio + R"(],"content":7,"messages":7})";
  EXPECT_EQ(said_to("2024-11-05", "tools/call", other), other);
  EXPECT_EQ(said_to("2024-11-05", "prompts/get", other), other);
}

TEST(Vocabulary, HasOutputSchemasSinceTheSummerOf2025) {
  const std::string list = R"({"tools":[{"name":"a","outputSchema":{"type":"object"}},{"name":"b"}]})";
  EXPECT_EQ(said_to("2025-03-26", "tools/list", list), R"({"tools":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(said_to("2025-06-18", "tools/list", list), list);
}

TEST(Vocabulary, OfAModernServerHasOnlyObjectsAsStructure) {
  const auto shown = [](std::string_view method, const std::string& result) {
    return legacy_result(method, result, "2025-11-25");
  };
  EXPECT_EQ(shown("tools/call", R"({"structuredContent":{"x":1}})"), R"({"structuredContent":{"x":1}})");
  EXPECT_EQ(shown("tools/call", R"({"a":1,"structuredContent":[1]})"), R"({"a":1})");
  EXPECT_EQ(shown("prompts/get", R"({"structuredContent":[1]})"), R"({"structuredContent":[1]})");
  EXPECT_EQ(
      shown("tools/list", R"({"tools":[{"outputSchema":{"type":"object"}},{"outputSchema":{"type":"array"}},)"
                          R"({"a":1,"outputSchema":{}}]})"),
      R"({"tools":[{"outputSchema":{"type":"object"}},{},{"a":1}]})");
}

TEST(Vocabulary, OfAModernServerHasNoMembersThatOnlyModernClientsKnow) {
  EXPECT_EQ(legacy_result("tools/call", R"({"resultType":"complete","a":1,"ttlMs":5,"cacheScope":"private"})",
                          "2025-11-25"),
            R"({"a":1})");
  const std::string legacy = R"({"resultType":"complete","ttlMs":5,"cacheScope":"private"})";
  EXPECT_EQ(said_to("2024-11-05", "tools/call", legacy), legacy);
}

TEST(Vocabulary, IsCompleteOnlyWithAllOfIt) {
  EXPECT_TRUE(Vocabulary().complete());
  for (const auto part : {&Vocabulary::audio, &Vocabulary::resource_links, &Vocabulary::structured,
                          &Vocabulary::any_structure, &Vocabulary::modern_members}) {
    Vocabulary lacking;
    lacking.*part = false;
    EXPECT_FALSE(lacking.complete());
  }
}

// ---- changes

class Heard final : public Outlet {
 public:
  void to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits) override {
    text = wire::edited(line.text, edits);
  }
  void to_server(const wire::Message&) override {}
  QuestionId next_question() override { return {}; }
  std::string text;
};

TEST(Changes, AreSentHoweverManyTheyAre) {
  const std::string line = "abcdefgh";
  std::vector<Change> changes;
  std::string expected = line;
  for (std::size_t i = 0; i < 7; ++i) {
    Heard heard;
    send_changed(heard, {line, nullptr}, changes);
    EXPECT_EQ(heard.text, expected) << i;
    changes.push_back({{i, i + 1}, std::to_string(i)});
    expected[i] = static_cast<char>('0' + i);
  }
}

TEST(Changes, OfAPieceAreMovedToItsPlaceAndSorted) {
  std::vector<Change> changes = {{{6, 7}, "X"}};
  add_changes(changes, {{{0, 1}, "A"}, {{2, 3}, "B"}}, 2);
  sort_by_place(changes);
  EXPECT_EQ(changed("01234567", changes), "01A3B5X7");
}

}  // namespace
}  // namespace corral::bridge
