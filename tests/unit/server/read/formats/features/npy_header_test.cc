#include "server/read/formats/features/npy_header.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A file's header with this dictionary, as NumPy writes version 1.
std::string Header(const std::string& dictionary, int version = 1) {
  std::string header("\x93NUMPY", 6);
  header += static_cast<char>(version);
  header += '\0';
  header += static_cast<char>(dictionary.size());
  header.append(version == 1 ? 1 : 3, '\0');
  return header + dictionary;
}

std::string ErrorOf(const std::string& file) { return std::string(ParseNpyHeader(file).status().message()); }

TEST(NpyHeaderTest, SaysTypeAndShape) {
  const std::string file = Header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 768), }\n") + "elements";
  const auto header = ParseNpyHeader(file);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->dtype, v1::DTYPE_FLOAT32);
  EXPECT_THAT(header->shape, ElementsAre(3, 768));
  EXPECT_EQ(file.substr(header->bytes), "elements");
  EXPECT_THAT(ParseNpyHeader(Header("{'shape':(5,),'fortran_order':True,'descr':'|u1'}", 2))->shape, ElementsAre(5));
  EXPECT_THAT(ParseNpyHeader(Header("{'descr': '<i8', 'fortran_order': False, 'shape': ()}"))->shape, IsEmpty());
}

TEST(NpyHeaderTest, WhatIsNotTakenIsSaid) {
  const auto with = [](const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
    return Header("{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }");
  };
  EXPECT_THAT(ErrorOf(with("'>f4'", "(3,)")), HasSubstr("not little-endian"));
  EXPECT_THAT(ErrorOf(with("'<c8'", "(3,)")), HasSubstr("'c8' are not taken"));
  EXPECT_THAT(ErrorOf(with("[('a', '<f4')]", "(3,)")), HasSubstr("no plain number"));
  EXPECT_THAT(ErrorOf(with("'<f4'", "(3, 0)")), HasSubstr("not above 0"));
  EXPECT_THAT(ErrorOf(with("'<f4'", "(-3,)")), HasSubstr("not above 0"));
  EXPECT_THAT(ErrorOf(with("'<f4'", "(99999999999999999999,)")), HasSubstr("not above 0"));
  EXPECT_THAT(ErrorOf(with("'<f4'", "3")), HasSubstr("no tuple"));
  EXPECT_THAT(ErrorOf(with("'<f4'", "(3")), HasSubstr("no tuple"));
  EXPECT_THAT(ErrorOf(with("'<f4'", "(3, 4)", "True")), HasSubstr("Fortran"));
  EXPECT_THAT(ErrorOf(Header("{}")), HasSubstr("no 'descr'"));
}

TEST(NpyHeaderTest, EveryBeginningOfAFileIsRefused) {
  const std::string file = Header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 768), }");
  for (size_t i = 0; i < file.size(); ++i) EXPECT_FALSE(ParseNpyHeader(file.substr(0, i)).ok()) << i;
  EXPECT_THAT(ErrorOf("\xff\xd8\xff and some more"), HasSubstr("does not begin as one"));
  EXPECT_THAT(ErrorOf(Header("{}", 9) + "            "), HasSubstr("version"));
}

}  // namespace
}  // namespace stoker
