// What processes of Python say is bounded, whatever it is.
#include <array>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/plugin/python_offer.h"
#include "server/plugin/python_room.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using Kind = PythonRoom::Result::Kind;

std::vector<uint8_t> Room(const std::vector<uint32_t>& slot, const std::string& text) {
  std::vector<uint8_t> head(PythonRoom::kImagesAt);
  std::memcpy(head.data(), slot.data(), slot.size() * sizeof(uint32_t));
  std::memcpy(head.data() + 256, text.data(), text.size());
  return head;
}

TEST(PythonRoomTest, AResultIsWhatThePythonWrote) {
  EXPECT_EQ(PythonRoom::Read(Room({0, 1, 3}, "abc"), 0).kind, Kind::kMissing);
  const auto made = PythonRoom::Read(Room({1, 1, 3}, "abc"), 0);
  EXPECT_EQ(made.kind, Kind::kOk);
  EXPECT_TRUE(made.in_place);
  EXPECT_EQ(made.text, "");
  EXPECT_EQ(PythonRoom::Read(Room({2, 0, 2}, "abc"), 0).text, "ab");
  EXPECT_EQ(PythonRoom::Read(Room({3, 0, 3}, "a\xff\n"), 0).text, "a\\xff\\x0a");
}

TEST(PythonRoomTest, ATextThatClaimsToBeLongEndsWithItsRoom) {
  const std::string text(PythonRoom::kTextBytes, 'x');
  EXPECT_EQ(PythonRoom::Read(Room({2, 0, UINT32_MAX}, text + "another's"), 0).text, text);
  EXPECT_EQ(PythonRoom::Read(Room({77, 0, 1}, "x"), 0).kind, Kind::kFailed) << "of a kind that is none";
}

TEST(PythonRoomTest, ImagesAreDoneOneAfterTheOther) {
  auto room = *PythonRoom::Create();
  EXPECT_EQ(room->Done(), 0);
  *room->At(0) = 1;
  *room->At(2 * 16) = 1;
  EXPECT_EQ(room->Done(), 1);
  std::memset(room->At(0), 1, PythonRoom::kImagesAt);
  EXPECT_EQ(room->Done(), PythonRoom::kMostImages);
  room->Clear();
  EXPECT_EQ(room->Done(), 0);
}

std::string Refusal(const std::string& text) { return std::string(ParseOffer(text).status().message()); }

std::string Op(const std::string& more) {
  return absl::StrCat(R"({"protocol":3,"ops":[{"file":"f","summary":"s","made_of":"m","changes_size":false,)", more,
                      "}]}");
}

TEST(PythonOfferTest, ReadsWhatAProcessOffers) {
  const auto offers = ParseOffer(
      Op(R"("name":"salt","version":3,"arguments":[{"name":"by","type":"int","default":2,"required":true}])"));
  ASSERT_TRUE(offers.ok()) << offers.status();
  ASSERT_EQ(offers->size(), 1);
  EXPECT_EQ((*offers)[0].name, "salt");
  EXPECT_EQ((*offers)[0].version, 3);
  EXPECT_EQ((*offers)[0].arguments.at(0).otherwise, OwnValue(int64_t{2}));
}

TEST(PythonOfferTest, AFieldIsAnExampleOfItsTypeAndShape) {
  const auto field = [](const std::string& dtype, const std::string& shape, const std::string& hex) {
    return Op(
        absl::StrCat(R"("name":"salt","version":1,"arguments":[{"name":"a","type":"field","required":false,"dtype":")",
                     dtype, R"(","shape":)", shape, R"(,"default":")", hex, R"("}])"));
  };
  const auto offers = ParseOffer(field("int16", "[2,1]", "0100ff00"));
  ASSERT_TRUE(offers.ok()) << offers.status();
  const auto& example = std::get<OwnField>((*offers)[0].arguments.at(0).otherwise);
  EXPECT_EQ(example.dtype, v1::DTYPE_INT16);
  EXPECT_EQ(example.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(*example.bytes, (std::vector<uint8_t>{1, 0, 255, 0}));
  EXPECT_TRUE(ParseOffer(field("uint8", "[0]", "")).ok()) << "of no rows";
  for (const auto& [dtype, shape, hex] :
       std::vector<std::array<std::string, 3>>{{"int16", "[2,1]", "0100ff"},
                                               {"int16", "[2,1]", "0100ff000"},
                                               {"int16", "[2,1]", "0100ffxx"},
                                               {"int16", "[3,1]", "0100ff00"},
                                               {"int16", "[-2,-1]", "0100ff00"},
                                               {"int16", "[4611686018427387904,4]", "0100ff00"},
                                               {"int99", "[2]", "0100ff00"},
                                               {"uint8", "[1,1,1,1,1,1,1,1,1]", "00"}})
    EXPECT_THAT(Refusal(field(dtype, shape, hex)), HasSubstr("argument 'a' of 'salt'")) << dtype << shape << hex;
}

TEST(PythonOfferTest, RefusesWhatIsNoOffer) {
  EXPECT_EQ(Refusal(R"({"error":"salt.py:1: ValueError"})"), "salt.py:1: ValueError");
  EXPECT_THAT(Refusal(""), HasSubstr("in a way that this server does not know"));
  EXPECT_THAT(Refusal("[]"), HasSubstr("in a way that this server does not know"));
  EXPECT_THAT(Refusal(R"({"protocol":1,"ops":[]})"), HasSubstr("its package stoker is of another version"));
  EXPECT_THAT(Refusal(Op(R"("name":"Salt","version":1,"arguments":[])")), HasSubstr("'Salt' is no name"));
  EXPECT_THAT(Refusal(Op(R"("name":"salt","version":-1,"arguments":[])")), HasSubstr("version -1 of 'salt'"));
  EXPECT_THAT(
      Refusal(Op(R"("name":"salt","version":1,"arguments":[{"name":"a","type":"int","default":1.5,"required":true}])")),
      HasSubstr("argument 'a' of 'salt'"));
}

}  // namespace
}  // namespace stoker
