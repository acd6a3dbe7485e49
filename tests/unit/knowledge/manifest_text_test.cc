#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "knowledge/manifest_store.h"
#include "wire/json_text.h"

namespace corral::knowledge {
namespace {

using testing::HasSubstr;

Manifest known() {
  Manifest manifest;
  manifest.modern = false;
  manifest.read_only = true;
  manifest.answers_probes = true;
  manifest.fingerprint.files = {{"/srv/tools \"1\".py", 64769, 18446744073709551615U, 12, -1},
                                {"/bin/x", 1, 2, 3, 4}};
  manifest.portraits["plain 2025-11-25"] = {
      R"({"protocolVersion":"2025-11-25"})",
      {R"({"tools":[{"name":"t","big":12345678901234567890.10}]})", "", R"({ "resources" : [] })", ""}};
  manifest.portraits["roots+ext:\"a\""] = {"", {"", R"({"prompts":[]})", "", ""}};
  return manifest;
}

std::optional<Manifest> back(const Manifest& manifest) {
  std::string why;
  return parse_manifest(manifest_text("files", manifest), why);
}

std::string objection(const std::string& text) {
  std::string why;
  EXPECT_FALSE(parse_manifest(text, why)) << text;
  return why;
}

Portrait with_tools(const std::string& tools) {
  Portrait portrait;
  portrait.handshake = "{}";
  portrait.lists[0] = tools;
  return portrait;
}

std::string nested(std::size_t levels) {
  std::string text;
  for (std::size_t i = 0; i < levels; ++i) text += R"({"a":)";
  return text + "1" + std::string(levels, '}');
}

TEST(ManifestText, SaysTheSameAfterATrip) {
  EXPECT_EQ(back(known()), known());
  EXPECT_EQ(back(Manifest{}), Manifest{});
  Manifest modern;
  modern.modern = true;
  modern.conversational = true;
  EXPECT_EQ(back(modern), modern);
}

TEST(ManifestText, IsJsonThatSaysWhoWroteItAboutWhom) {
  const std::string text = manifest_text("my \"files\"", known());

  EXPECT_TRUE(wire::is_strict_object(text));
  EXPECT_THAT(text, HasSubstr(R"("server":"my \"files\"")"));
  EXPECT_THAT(text, HasSubstr(R"("format":1,"corral":")"));
  EXPECT_THAT(text, HasSubstr(R"({"tools":[{"name":"t","big":12345678901234567890.10}]})"));
}

TEST(ManifestText, OfAnotherVersionWithTheSameFormatIsRead) {
  std::string why;
  const std::string older = R"({"corral":"0.0.1","new":[1],"format":1,"fingerprint":[],"portraits":[]})";

  EXPECT_EQ(parse_manifest(older, why), Manifest{}) << why;
}

TEST(ManifestText, OfAnotherFormatIsNotRead) {
  EXPECT_EQ(objection(R"({"format":2,"fingerprint":[],"portraits":[]})"),
            "has the format of another version");
  EXPECT_EQ(objection(R"({"format":"1","fingerprint":[],"portraits":[]})"),
            "has the format of another version");
  EXPECT_EQ(objection(R"({"mcpServers":{}})"), "is not a manifest of corral");
}

TEST(ManifestText, CutAnywhereIsCorrupt) {
  std::string text = manifest_text("files", known());
  text.resize(text.find_last_of('}'));
  for (std::size_t length = 0; length <= text.size(); ++length) {
    EXPECT_EQ(objection(text.substr(0, length)), "is corrupt") << length;
  }
}

class CorruptManifest : public testing::TestWithParam<const char*> {};

TEST_P(CorruptManifest, IsNotRead) {
  const std::string text = GetParam();
  EXPECT_EQ(objection(R"({"format":1,)" + text + "}"), "is corrupt");
}

INSTANTIATE_TEST_SUITE_P(
    All, CorruptManifest,
    testing::Values(
        R"("portraits":[])", R"("fingerprint":[])", R"("fingerprint":{},"portraits":[])",
        R"("fingerprint":[],"portraits":{})", R"("fingerprint":[],"portraits":[1])",
        R"("fingerprint":[],"portraits":[],"modern":1)",
        R"("fingerprint":[],"portraits":[],"read_only":null)",
        R"("fingerprint":[],"portraits":[],"conversational":"true")",
        R"("fingerprint":[{"path":"relative","device":1,"inode":1,"size":1,"modified_ns":1}],"portraits":[])",
        R"("fingerprint":[{"path":"/a","device":-1,"inode":1,"size":1,"modified_ns":1}],"portraits":[])",
        R"("fingerprint":[{"path":"/a","device":1,"inode":1e3,"size":1,"modified_ns":1}],"portraits":[])",
        R"("fingerprint":[{"path":"/a","device":1,"inode":18446744073709551616,"size":1,"modified_ns":1}],"portraits":[])",
        R"("fingerprint":[{"path":"/a","device":1,"inode":1,"size":1}],"portraits":[])",
        R"("fingerprint":[],"portraits":[{"lists":{}}])",
        R"("fingerprint":[],"portraits":[{"profile":"plain"}])",
        R"("fingerprint":[],"portraits":[{"profile":"plain","lists":{},"handshake":[]}])",
        R"("fingerprint":[],"portraits":[{"profile":"plain","lists":{"tools":"x"}}])",
        R"("fingerprint":[],"portraits":[{"profile":"a","lists":{}},{"profile":"a","lists":{}}])"));

TEST(ManifestText, LeavesOutAPortraitThatIsNotAnObject) {
  for (const std::string& broken :
       {std::string("[]"), std::string("{"), std::string(R"({},"x":{})"), nested(509)}) {
    Manifest manifest = known();
    manifest.portraits["broken"] = with_tools(broken);
    EXPECT_EQ(back(manifest), known()) << broken.substr(0, 20);
  }
  Manifest deep;
  deep.portraits["deep"] = with_tools(nested(508));
  EXPECT_EQ(back(deep), deep);
}

TEST(ManifestText, LeavesOutPortraitsThatAreTooLarge) {
  Manifest manifest = known();
  manifest.portraits["large"] = with_tools(R"({"a":")" + std::string(kLargestPortrait, 'x') + "\"}");

  EXPECT_EQ(back(manifest), known());
}

TEST(ManifestText, StaysBelowTheSizeThatIsRead) {
  Manifest manifest;
  for (const char* profile : {"a", "b", "c", "d"}) {
    manifest.portraits[profile] =
        with_tools(R"({"a":")" + std::string(kLargestPortrait * 3 / 4, 'x') + "\"}");
  }

  EXPECT_LE(manifest_text("files", manifest).size(), kLargestManifest);
  EXPECT_EQ(back(manifest)->portraits.size(), 2U);
}

TEST(ManifestText, KeepsAFewProfilesAndThePlainOnesFirst) {
  Manifest manifest;
  for (int i = 0; i < 40; ++i) manifest.portraits["a" + std::to_string(i)] = with_tools("{}");
  manifest.portraits["plain 2025-06-18"] = with_tools("{}");

  const std::optional<Manifest> found = back(manifest);

  EXPECT_EQ(found->portraits.size(), kMostPortraits);
  EXPECT_EQ(found->portraits.count("plain 2025-06-18"), 1U);
}

TEST(ManifestText, WithAPathThatJsonCannotHoldIsNone) {
  Manifest manifest = known();
  manifest.fingerprint.files[0].path = "/srv/\xff.py";

  EXPECT_EQ(manifest_text("files", manifest), "");
}

}  // namespace
}  // namespace corral::knowledge
