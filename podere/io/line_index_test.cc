#include "podere/io/line_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "podere/base/hash.h"

namespace podere::io {
namespace {

constexpr LineRules kPlain{.has_quotes = false};
constexpr LineRules kQuotes{};
constexpr LineRules kComments{.tab_is_blank = false, .comment = '#'};

/// Characters drawn from `marks`.
std::string random_marks(std::uint64_t seed, std::size_t n_bytes, std::string_view marks) {
  RandomSequence random(seed, 0, n_bytes);
  std::string text;
  for (std::size_t i = 0; i < n_bytes; ++i) text += marks[random.next() % marks.size()];
  return text;
}

constexpr std::string_view kAllMarks = "ab,\n\n\r\"\"x1 \t#";
constexpr std::string_view kFewMarks = "abcdefghijkl,\n\"";  // most chunks can be counted quickly
constexpr std::string_view kNoQuotes = "abcdefghijklmnopqrst,\n";

/// What find_row and count_rows are to say, line by line.
struct PlainRows {
  PlainRows(std::string_view text, const LineRules& rules) {
    bool in_quotes = false, in_comment = false, in_row = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      places.push_back(in_quotes    ? LinePlace::kQuoted
                       : in_comment ? LinePlace::kComment
                       : in_row     ? LinePlace::kRow
                                    : LinePlace::kBlank);
      const char c = text[i];
      if (in_quotes) {
        in_quotes = c != '"';
      } else if (c == '\n') {
        in_comment = in_row = false;
      } else if (in_comment) {
        continue;
      } else if (rules.comment == c) {
        in_comment = true;
      } else if (in_row || (c != ' ' && c != '\r' && !(c == '\t' && rules.tab_is_blank))) {
        if (!in_row) begins.push_back(i);
        in_row = true;
        in_quotes = rules.has_quotes && c == '"';
      }
    }
  }
  std::vector<LinePlace> places;    // at each character
  std::vector<std::size_t> begins;  // of rows
};

TEST(LineIndex, CountsRowsAtAnyLengthAsALoopOverLinesDoes) {
  for (const LineRules& rules : {kPlain, kQuotes, kComments}) {
    for (const std::string_view marks : {kAllMarks, kFewMarks, kNoQuotes}) {
      for (std::size_t n_bytes = 1; n_bytes < 40000; n_bytes = n_bytes < 300 ? n_bytes + 1 : n_bytes * 2 + 1) {
        const std::string text = random_marks(1, n_bytes, marks);
        const ChunkCount found = count_rows(text, rules);
        EXPECT_EQ(found.n_rows[0], PlainRows(text, rules).begins.size()) << n_bytes << marks;
        for (const LinePlace place : {LinePlace::kRow, LinePlace::kQuoted, LinePlace::kComment}) {
          if ((place == LinePlace::kQuoted && !rules.has_quotes) || (place == LinePlace::kComment && !rules.comment)) {
            continue;
          }
          const std::string before = place == LinePlace::kRow ? "a" : place == LinePlace::kQuoted ? "\"" : "#";
          const PlainRows all(before + text + "|", rules);
          const auto k = static_cast<std::size_t>(place);
          const std::size_t n_begun = place == LinePlace::kComment ? 0 : 1;
          const std::size_t n_behind = all.places.back() == LinePlace::kBlank ? 1 : 0;
          EXPECT_EQ(found.n_rows[k], all.begins.size() - n_begun - n_behind) << n_bytes << marks << k;
          EXPECT_EQ(found.end[k], all.places.back()) << n_bytes << marks << k;
        }
      }
    }
  }
}

TEST(LineIndex, SaysTheSameForAnySizeOfChunk) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const LineRules& rules = seed % 3 == 0 ? kPlain : seed % 3 == 1 ? kQuotes : kComments;
    const std::string text = random_marks(seed, 1 + seed % 60, seed % 2 == 0 ? kAllMarks : kFewMarks);
    const PlainRows plain(text, rules);
    for (std::size_t chunk_bytes = 1; chunk_bytes < 70; ++chunk_bytes) {
      std::vector<ChunkCount> counts;
      for (std::size_t begin = 0; begin < text.size(); begin += chunk_bytes) {
        counts.push_back(count_rows(std::string_view(text).substr(begin, chunk_bytes), rules));
      }
      const LineIndex index = make_index(chunk_bytes, counts, rules);
      ASSERT_EQ(index.n_rows, plain.begins.size()) << seed << ' ' << chunk_bytes;
      for (std::size_t i = 0; i < text.size(); i += chunk_bytes) {
        const auto& chunk = index.chunks[i / chunk_bytes];
        ASSERT_EQ(chunk.place, plain.places[i]);
        const auto first = std::ranges::lower_bound(plain.begins, i);
        ASSERT_EQ(chunk.first_row, static_cast<std::uint64_t>(first - plain.begins.begin()));
        const char* const end = text.data() + text.size();
        const std::size_t row = first == plain.begins.end() ? text.size() : *first;
        ASSERT_EQ(find_row(text.data() + i, end, chunk.place, rules), text.data() + row);
      }
    }
  }
}

TEST(LineIndex, ARowEndsBehindItsLineEndOutsideQuotes) {
  const std::string_view text = "1,\"a\n#\",2 # \"x\n3";
  const char* const end = text.data() + text.size();
  EXPECT_EQ(find_row_end(text.data(), end, LinePlace::kRow, kComments), end - 1);
  EXPECT_EQ(find_row_end(end - 1, end, LinePlace::kRow, kComments), nullptr);
}

}  // namespace
}  // namespace podere::io
