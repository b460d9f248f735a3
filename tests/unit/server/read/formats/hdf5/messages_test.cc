#include "server/read/formats/hdf5/messages.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stoker {
namespace {

const std::vector<Hdf5Column>& Columns() {
  static const std::vector<Hdf5Column> columns = {
      {.path = "train/images", .type = ColumnType::kUint8, .width = 1, .rows = 7, .shape = {4, 5, 3}, .block_rows = 2},
      {.path = "names", .why = "is text"}};
  return columns;
}

const std::vector<Hdf5Places>& Places() {
  static const std::vector<Hdf5Places> places = {
      {.runs = {2048, 100}, .run_rows = 7, .row_bytes = 16, .are_references = true}, {}};
  return places;
}

TEST(Hdf5MessagesTest, SayWhatTheyAreMadeOf) {
  const Hdf5Request request = {.file = 3,
                               .file_size = 100,
                               .begin = 5,
                               .count = 2,
                               .most_bytes = 1000,
                               .paths = {"a", "b/c"},
                               .asks_places = true};
  Hdf5Request parsed;
  ASSERT_TRUE(ParseRequest(SerializeRequest(request), parsed));
  EXPECT_EQ(SerializeRequest(parsed), SerializeRequest(request));
  EXPECT_EQ(parsed.paths, request.paths);
  std::vector<Hdf5Column> columns;
  ASSERT_TRUE(ParseHdf5Columns(SerializeHdf5Columns(Columns()), columns));
  ASSERT_EQ(columns.size(), 2);
  EXPECT_TRUE(columns[0].HasRowsOf(Columns()[0]));
  EXPECT_FALSE(columns[0].HasRowsOf(columns[1]));
  EXPECT_EQ(columns[1].why, "is text");
  EXPECT_EQ(columns[0].block_rows, 2);
  std::vector<Hdf5Places> places;
  ASSERT_TRUE(ParsePlaces(SerializePlaces(Places()), places));
  ASSERT_EQ(places.size(), 2);
  EXPECT_EQ(places[0].runs, Places()[0].runs);
  EXPECT_EQ(places[0].run_rows, 7);
  EXPECT_EQ(places[0].row_bytes, 16);
  EXPECT_TRUE(places[0].are_references);
  EXPECT_TRUE(places[1].runs.empty());
}

TEST(Hdf5MessagesTest, ThoseThatAreCutAreNone) {
  const std::string columns = SerializeHdf5Columns(Columns()), request = SerializeRequest({.paths = {"a"}});
  std::vector<Hdf5Column> parsed;
  for (size_t size = 0; size < columns.size(); ++size)
    EXPECT_FALSE(ParseHdf5Columns(columns.substr(0, size), parsed)) << size;
  const std::string places = SerializePlaces(Places());
  std::vector<Hdf5Places> parsed_places;
  for (size_t size = 0; size < places.size(); ++size) EXPECT_FALSE(ParsePlaces(places.substr(0, size), parsed_places));
  Hdf5Request asked;
  for (size_t size = 0; size < request.size(); ++size) EXPECT_FALSE(ParseRequest(request.substr(0, size), asked));
}

}  // namespace
}  // namespace stoker
