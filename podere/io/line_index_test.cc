#include "podere/io/line_index.h"

#include <gtest/gtest.h>

#include <string>

#include "podere/base/hash.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

std::string random_marks(std::uint64_t seed, std::size_t n_bytes) {
  RandomSequence random(seed, 0, n_bytes);
  std::string text;
  for (std::size_t i = 0; i < n_bytes; ++i) text += "ab,\n\n\r\"\"x1"[random.next() % 10];
  return text;
}

ChunkCount count_plainly(std::string_view chunk) {
  ChunkCount count;
  for (const char c : chunk) {
    count.flips ^= c == '"';
    if (c == '\n') ++(count.flips ? count.line_ends_if_quoted : count.line_ends);
    if (c == '\n') ++count.blank_tail_lines;
    if (c != '\n' && c != '\r') count.blank_tail_lines = 0;
  }
  count.is_blank = chunk.find_first_not_of("\r\n") == std::string::npos;
  return count;
}

TEST(CountLines, EqualsAPlainLoopAtAnyLength) {
  for (std::size_t n_bytes = 0; n_bytes < 40000; n_bytes = n_bytes < 300 ? n_bytes + 1 : n_bytes * 2 + 1) {
    const std::string text = random_marks(1, n_bytes);
    const ChunkCount found = count_lines(text), expected = count_plainly(text);
    EXPECT_EQ(found.line_ends, expected.line_ends) << n_bytes;
    EXPECT_EQ(found.line_ends_if_quoted, expected.line_ends_if_quoted) << n_bytes;
    EXPECT_EQ(found.flips, expected.flips) << n_bytes;
    EXPECT_EQ(found.blank_tail_lines, expected.blank_tail_lines) << n_bytes;
    EXPECT_EQ(found.is_blank, expected.is_blank) << n_bytes;
  }
}

// A chunk without quotes that lies within quotes has no line end outside them.
TEST(CountLines, AChunkWithoutQuotesHasNoLineEndsIfItLiesInQuotes) {
  EXPECT_EQ(count_lines(std::string_view("a\nb\n")).line_ends, 2);
  EXPECT_EQ(count_lines(std::string_view("a\nb\n")).line_ends_if_quoted, 0);
}

TEST(LineIndex, SaysTheSameForAnySizeOfChunk) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = random_marks(seed, 1 + seed % 60);
    const std::size_t content = text.find_last_not_of("\r\n") + 1;
    for (std::size_t chunk_bytes = 1; chunk_bytes < 70; ++chunk_bytes) {
      std::vector<ChunkCount> counts;
      for (std::size_t begin = 0; begin < text.size(); begin += chunk_bytes) {
        counts.push_back(count_lines(std::string_view(text).substr(begin, chunk_bytes)));
      }
      const LineIndex index = make_index(chunk_bytes, counts);

      bool in_quotes = false;
      std::uint64_t line = 1;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (i % chunk_bytes == 0) {
          ASSERT_EQ(index.chunks[i / chunk_bytes].in_quotes, in_quotes);
          ASSERT_EQ(index.chunks[i / chunk_bytes].first_line, std::min(i == 0 ? 0 : line, index.n_lines));
        }
        in_quotes ^= text[i] == '"';
        line += text[i] == '\n' && !in_quotes;
      }
      std::uint64_t n_lines = content > 0;
      in_quotes = false;
      const bool ends_in_quotes = std::count(text.begin(), text.end(), '"') % 2 != 0;
      for (std::size_t i = 0; i < (ends_in_quotes ? text.size() : content); ++i) {
        in_quotes ^= text[i] == '"';
        n_lines += text[i] == '\n' && !in_quotes;
      }
      ASSERT_EQ(index.n_lines, n_lines) << seed << ' ' << chunk_bytes;
    }
  }
}

}  // namespace
}  // namespace podere::io
