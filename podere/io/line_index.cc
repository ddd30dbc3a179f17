#include "podere/io/line_index.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/parallel.h"

namespace podere::io {
namespace {

bool is_blank(char c, const LineRules& rules) { return c == ' ' || c == '\r' || (c == '\t' && rules.tab_is_blank); }

/// Goes through the characters of [p, end) from `place` on, and calls begin_row at the first of each row and end_line
/// behind each line end that is one, until one of these returns false. Returns where it stopped; sets `place`.
template <typename BeginRow, typename EndLine>
const char* walk(const char* p, const char* end, LinePlace& place, const LineRules& rules, const BeginRow& begin_row,
                 const EndLine& end_line) {
  const char quote = rules.has_quotes ? '"' : '\n';
  const char comment = rules.comment.value_or('\n');
  for (; p != end; ++p) {
    if (place == LinePlace::kQuoted) {
      if (*p == quote) place = LinePlace::kRow;
    } else if (*p == '\n') {
      place = LinePlace::kBlank;
      if (!end_line(p + 1)) return p + 1;
    } else if (place != LinePlace::kComment) {
      if (*p == comment) {
        place = LinePlace::kComment;
      } else if (place == LinePlace::kRow || !is_blank(*p, rules)) {
        if (place == LinePlace::kBlank && !begin_row(p)) return p;
        place = *p == quote ? LinePlace::kQuoted : LinePlace::kRow;
      }
    }
  }
  return end;
}

/// What a chunk has of each kind of mark.
struct Tally {
  std::uint64_t newlines = 0;
  std::uint64_t quotes = 0;
  std::uint64_t comments = 0;
  std::uint64_t blanks = 0;  ///< line ends with a control character or a space behind them
};

/// Of all characters but the last. Compilers make vector code of the inner loop: its counters are bytes, which hold 255
/// steps.
Tally count_marks(std::span<const char> text, char comment) {
  Tally tally;
  if (text.empty()) return tally;
  constexpr std::size_t kLanes = 64, kSteps = 255;
  const char* p = text.data();
  std::size_t left = text.size() - 1;
  const auto is_blank_line_end = [](const char* at) {
    return static_cast<int>(at[0] == '\n') & static_cast<int>(static_cast<unsigned char>(at[1]) <= ' ');
  };
  while (left >= kLanes) {
    std::uint8_t newlines[kLanes] = {}, quotes[kLanes] = {}, comments[kLanes] = {}, blanks[kLanes] = {};
    const std::size_t steps = std::min(kSteps, left / kLanes);
    for (std::size_t step = 0; step < steps; ++step, p += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        newlines[lane] = static_cast<std::uint8_t>(newlines[lane] + (p[lane] == '\n'));
        quotes[lane] = static_cast<std::uint8_t>(quotes[lane] + (p[lane] == '"'));
        comments[lane] = static_cast<std::uint8_t>(comments[lane] + (p[lane] == comment));
        blanks[lane] = static_cast<std::uint8_t>(blanks[lane] + is_blank_line_end(p + lane));
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      tally.newlines += newlines[lane];
      tally.quotes += quotes[lane];
      tally.comments += comments[lane];
      tally.blanks += blanks[lane];
    }
    left -= steps * kLanes;
  }
  for (; left > 0; --left, ++p) {
    tally.newlines += *p == '\n';
    tally.quotes += *p == '"';
    tally.comments += *p == comment;
    tally.blanks += is_blank_line_end(p) != 0;
  }
  return tally;
}

/// Reads all of [begin, end) chunk by chunk.
class ChunkBuffer {
 public:
  explicit ChunkBuffer(std::size_t chunk_bytes) : bytes_(chunk_bytes) {}
  std::span<const char> read_from(ByteCursor& cursor) { return {bytes_.data(), cursor.read(bytes_)}; }

 private:
  std::vector<char> bytes_;
};

/// What of `chunk`, which begins at `offset`, lies behind the first `text_begin` bytes.
std::span<const char> text_of(std::span<const char> chunk, std::uint64_t offset, std::uint64_t text_begin) {
  const std::uint64_t n_before = text_begin > offset ? text_begin - offset : 0;
  return chunk.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(n_before, chunk.size())));
}

std::vector<ChunkCount> count_whole_stream(ByteSource& source, std::uint64_t text_begin, std::size_t chunk_bytes,
                                           const LineRules& rules) {
  std::vector<ChunkCount> counts;
  ChunkBuffer buffer(chunk_bytes);
  const DecodeTime decoding;
  const auto cursor = source.indexing_cursor();
  for (auto chunk = buffer.read_from(*cursor); !chunk.empty(); chunk = buffer.read_from(*cursor)) {
    counts.push_back(count_rows(text_of(chunk, counts.size() * chunk_bytes, text_begin), rules));
  }
  return counts;
}

std::vector<ChunkCount> count_part(const ByteSource& source, std::uint64_t text_begin, std::size_t chunk_bytes,
                                   const LineRules& rules, Slice chunks, int n_threads) {
  std::vector<ChunkCount> counts(chunks.end - chunks.begin);
  std::vector<ChunkBuffer> buffers(static_cast<std::size_t>(std::max(n_threads, 1)), ChunkBuffer(chunk_bytes));
  parallel_for(n_threads, counts.size(), [&](std::size_t i, int thread) {
    const DecodeTime decoding;
    const std::uint64_t offset = (chunks.begin + i) * chunk_bytes;
    const auto cursor = source.cursor_at(offset);
    const auto chunk = buffers[static_cast<std::size_t>(thread)].read_from(*cursor);
    counts[i] = count_rows(text_of(chunk, offset, text_begin), rules);
  });
  return counts;
}

/// Of a chunk whose lines begin with a character of a row each, but maybe the first, and that has no comments.
ChunkCount count_full_lines(std::span<const char> chunk, const Tally& tally, const LineRules& rules) {
  std::uint64_t in_quotes = 0, newlines_outside = tally.newlines;
  if (rules.has_quotes && tally.quotes > 0) {
    newlines_outside = 0;
    for (const char c : chunk.first(chunk.size() - 1)) {
      in_quotes ^= static_cast<std::uint64_t>(c == '"');
      newlines_outside += (in_quotes ^ 1) & static_cast<std::uint64_t>(c == '\n');
    }
  }
  const char last = chunk.back();
  if (rules.has_quotes && last == '"') in_quotes ^= 1;
  const auto end_outside = last == '\n' ? LinePlace::kBlank : LinePlace::kRow;
  const auto outside = static_cast<std::size_t>(LinePlace::kRow), quoted = static_cast<std::size_t>(LinePlace::kQuoted);
  ChunkCount count;
  count.n_rows[outside] = newlines_outside;
  count.end[outside] = in_quotes != 0 ? LinePlace::kQuoted : end_outside;
  count.n_rows[quoted] = tally.newlines - newlines_outside;
  count.end[quoted] = in_quotes != 0 ? end_outside : LinePlace::kQuoted;
  return count;
}

/// Counts the rows of a chunk that begins at `place`, one character after another.
void count_by_walking(std::span<const char> chunk, LinePlace place, const LineRules& rules, ChunkCount& count) {
  const auto begin = static_cast<std::size_t>(place);
  count.n_rows[begin] = 0;
  count.end[begin] = place;
  walk(
      chunk.data(), chunk.data() + chunk.size(), count.end[begin], rules,
      [&](const char*) {
        ++count.n_rows[begin];
        return true;
      },
      [](const char*) { return true; });
}

}  // namespace

ChunkCount count_rows(std::span<const char> chunk, const LineRules& rules) {
  const Tally tally = count_marks(chunk, rules.comment.value_or('\0'));
  ChunkCount count;
  const bool has_comments = rules.comment && (tally.comments > 0 || (!chunk.empty() && chunk.back() == *rules.comment));
  const bool is_quick = !chunk.empty() && tally.blanks == 0 && !has_comments;
  if (is_quick) count = count_full_lines(chunk, tally, rules);
  for (const LinePlace place : {LinePlace::kBlank, LinePlace::kRow, LinePlace::kQuoted, LinePlace::kComment}) {
    const bool is_counted = is_quick && (place == LinePlace::kRow || place == LinePlace::kQuoted);
    const bool is_never = place == LinePlace::kComment && !rules.comment;
    const bool begins_row = place == LinePlace::kBlank && is_quick && static_cast<unsigned char>(chunk.front()) > ' ';
    if (begins_row) {
      const auto blank = static_cast<std::size_t>(place), row = static_cast<std::size_t>(LinePlace::kRow);
      count.n_rows[blank] = count.n_rows[row] + 1;
      count.end[blank] = count.end[row];
    } else if (!is_counted && !is_never) {
      count_by_walking(chunk, place, rules, count);
    }
  }
  return count;
}
const char* find_row(const char* p, const char* end, LinePlace place, const LineRules& rules) {
  return walk(
      p, end, place, rules, [](const char*) { return false; }, [](const char*) { return true; });
}

const char* find_row_end(const char* p, const char* end, LinePlace place, const LineRules& rules) {
  const char* found = nullptr;
  walk(
      p, end, place, rules, [](const char*) { return true; },
      [&](const char* behind) {
        found = behind;
        return false;
      });
  return found;
}

LineIndex make_index(std::size_t chunk_bytes, std::span<const ChunkCount> counts, const LineRules& rules) {
  LineIndex index{.rules = rules, .chunk_bytes = chunk_bytes};
  LinePlace place = LinePlace::kBlank;
  index.chunks.push_back({0, place});
  for (const ChunkCount& count : counts) {
    const auto begin = static_cast<std::size_t>(place);
    index.n_rows += count.n_rows[begin];
    place = count.end[begin];
    index.chunks.push_back({index.n_rows, place});
  }
  return index;
}

LineIndex index_lines(ByteSource& source, const std::string& name, std::uint64_t text_begin, std::size_t chunk_bytes,
                      const LineRules& rules, const comm::Communicator& comm, int n_threads) {
  const std::optional<std::uint64_t> size = source.size();
  const std::vector<std::uint64_t> sizes = comm.all_gather(size.value_or(std::numeric_limits<std::uint64_t>::max()));
  if (std::count(sizes.begin(), sizes.end(), sizes[0]) != comm.size()) {
    throw_input_error("{}: is not the same file on all executors", name);
  }
  std::vector<ChunkCount> counts;
  if (!size) {
    comm.agree([&] { counts = count_whole_stream(source, text_begin, chunk_bytes, rules); });
    return make_index(chunk_bytes, counts, rules);
  }
  // Tiny chunks of a huge file would make the index itself large.
  constexpr std::uint64_t kMaxChunks = 1 << 18;
  chunk_bytes = std::max(chunk_bytes, static_cast<std::size_t>(*size / kMaxChunks + 1));
  comm.agree([&] {
    const auto n_chunks = static_cast<std::size_t>((*size + chunk_bytes - 1) / chunk_bytes);
    const Slice mine = slice_of(n_chunks, static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size()));
    counts = count_part(source, text_begin, chunk_bytes, rules, mine, n_threads);
  });
  const auto bytes = comm.all_gather_v<std::byte>(std::as_bytes(std::span<const ChunkCount>(counts)));
  counts.resize(bytes.size() / sizeof(ChunkCount));
  if (!bytes.empty()) std::memcpy(counts.data(), bytes.data(), bytes.size());
  return make_index(chunk_bytes, counts, rules);
}

}  // namespace podere::io
