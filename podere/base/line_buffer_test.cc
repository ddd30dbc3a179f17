#include "podere/base/line_buffer.h"

#include <gtest/gtest.h>

#include <vector>

namespace podere {
namespace {

std::vector<std::string> lines_of(const std::vector<std::string>& pieces) {
  LineBuffer buffer;
  std::vector<std::string> lines;
  for (const std::string& piece : pieces) {
    buffer.append(piece);
    while (auto line = buffer.take_line()) lines.push_back(std::move(*line));
  }
  EXPECT_FALSE(buffer.take_line());
  if (buffer.size() > 0) lines.push_back("rest: " + buffer.take_rest());
  EXPECT_EQ(buffer.size(), 0U);
  return lines;
}

TEST(LineBuffer, GivesTheSameLinesHoweverTheyWereCut) {
  const std::string text = "one\n\ntwo and more\nthree";
  const std::vector<std::string> expected = {"one", "", "two and more", "rest: three"};
  EXPECT_EQ(lines_of({text}), expected);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(lines_of({text.substr(0, cut), text.substr(cut)}), expected) << cut;
  }
  std::vector<std::string> letters;
  for (const char c : text) letters.emplace_back(1, c);
  EXPECT_EQ(lines_of(letters), expected);
  EXPECT_TRUE(lines_of({}).empty());
}

TEST(LineBuffer, KeepsLinesUntilTheyAreTaken) {
  LineBuffer buffer;
  buffer.append("one\ntwo\nth");
  EXPECT_EQ(buffer.take_line(), "one");
  buffer.append("ree\n");
  EXPECT_EQ(buffer.size(), 10U);
  EXPECT_EQ(buffer.take_line(), "two");
  EXPECT_EQ(buffer.take_line(), "three");
  EXPECT_EQ(buffer.take_rest(), "");
  buffer.append("four\n");
  EXPECT_EQ(buffer.take_line(), "four");
}

}  // namespace
}  // namespace podere
