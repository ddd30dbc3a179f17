#include "podere/io/line_index.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/parallel.h"

namespace podere::io {
namespace {

struct Tally {
  std::uint64_t newlines = 0;
  std::uint64_t quotes = 0;
};

/// Compilers make vector code of the inner loop: its counters are bytes, which hold 255 steps.
Tally count_marks(std::span<const char> text) {
  Tally tally;
  constexpr std::size_t kLanes = 64, kSteps = 255;
  const char* p = text.data();
  std::size_t left = text.size();
  while (left >= kLanes) {
    std::uint8_t newlines[kLanes] = {}, quotes[kLanes] = {};
    const std::size_t steps = std::min(kSteps, left / kLanes);
    for (std::size_t step = 0; step < steps; ++step, p += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        newlines[lane] = static_cast<std::uint8_t>(newlines[lane] + (p[lane] == '\n'));
        quotes[lane] = static_cast<std::uint8_t>(quotes[lane] + (p[lane] == '"'));
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      tally.newlines += newlines[lane];
      tally.quotes += quotes[lane];
    }
    left -= steps * kLanes;
  }
  for (; left > 0; --left, ++p) {
    tally.newlines += *p == '\n';
    tally.quotes += *p == '"';
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

std::vector<ChunkCount> count_whole_stream(ByteSource& source, std::size_t chunk_bytes, Quotes quotes) {
  std::vector<ChunkCount> counts;
  ChunkBuffer buffer(chunk_bytes);
  const DecodeTime decoding;
  const auto cursor = source.indexing_cursor();
  for (auto chunk = buffer.read_from(*cursor); !chunk.empty(); chunk = buffer.read_from(*cursor)) {
    counts.push_back(count_lines(chunk, quotes));
  }
  return counts;
}

std::vector<ChunkCount> count_part(const ByteSource& source, std::size_t chunk_bytes, Quotes quotes, Slice chunks,
                                   int n_threads) {
  std::vector<ChunkCount> counts(chunks.end - chunks.begin);
  std::vector<ChunkBuffer> buffers(static_cast<std::size_t>(std::max(n_threads, 1)), ChunkBuffer(chunk_bytes));
  parallel_for(n_threads, counts.size(), [&](std::size_t i, int thread) {
    const DecodeTime decoding;
    const auto cursor = source.cursor_at((chunks.begin + i) * chunk_bytes);
    counts[i] = count_lines(buffers[static_cast<std::size_t>(thread)].read_from(*cursor), quotes);
  });
  return counts;
}

}  // namespace

ChunkCount count_lines(std::span<const char> chunk, Quotes quotes) {
  Tally tally = count_marks(chunk);
  if (quotes == Quotes::kMeanNothing) tally.quotes = 0;
  ChunkCount count{.line_ends = tally.newlines, .flips = tally.quotes % 2};
  if (tally.quotes > 0) {
    std::uint64_t outside = 1;
    count.line_ends = 0;
    for (const char c : chunk) {
      outside ^= c == '"';
      count.line_ends += outside & (c == '\n');
    }
    count.line_ends_if_quoted = tally.newlines - count.line_ends;
  }
  std::size_t content = chunk.size();
  for (; content > 0 && (chunk[content - 1] == '\n' || chunk[content - 1] == '\r'); --content) {
    count.blank_tail_lines += chunk[content - 1] == '\n';
  }
  count.is_blank = content == 0;
  return count;
}

LineIndex make_index(std::size_t chunk_bytes, std::span<const ChunkCount> counts, Quotes quotes) {
  LineIndex index;
  index.quotes = quotes;
  index.chunk_bytes = chunk_bytes;
  index.chunks.push_back({0, false});
  std::uint64_t line_ends = 0;
  bool in_quotes = false;
  for (const ChunkCount& count : counts) {
    line_ends += in_quotes ? count.line_ends_if_quoted : count.line_ends;
    in_quotes ^= count.flips != 0;
    index.chunks.push_back({line_ends + 1, in_quotes});
  }
  std::uint64_t blank_tail_lines = 0;
  auto last = counts.rbegin();
  for (; last != counts.rend() && last->is_blank; ++last) blank_tail_lines += last->blank_tail_lines;
  if (last != counts.rend()) {
    blank_tail_lines += last->blank_tail_lines;
    index.n_lines = line_ends + 1 - (in_quotes ? 0 : blank_tail_lines);
  }
  for (auto& chunk : index.chunks) chunk.first_line = std::min(chunk.first_line, index.n_lines);
  return index;
}

LineIndex index_lines(ByteSource& source, const std::string& name, std::size_t chunk_bytes, Quotes quotes,
                      const comm::Communicator& comm, int n_threads) {
  const std::optional<std::uint64_t> size = source.size();
  const std::vector<std::uint64_t> sizes = comm.all_gather(size.value_or(std::numeric_limits<std::uint64_t>::max()));
  if (std::count(sizes.begin(), sizes.end(), sizes[0]) != comm.size()) {
    throw_input_error("{}: is not the same file on all executors", name);
  }
  std::vector<ChunkCount> counts;
  if (!size) {
    comm.agree([&] { counts = count_whole_stream(source, chunk_bytes, quotes); });
    return make_index(chunk_bytes, counts, quotes);
  }
  // Tiny chunks of a huge file would make the index itself large.
  constexpr std::uint64_t kMaxChunks = 1 << 18;
  chunk_bytes = std::max(chunk_bytes, static_cast<std::size_t>(*size / kMaxChunks + 1));
  comm.agree([&] {
    const auto n_chunks = static_cast<std::size_t>((*size + chunk_bytes - 1) / chunk_bytes);
    const Slice mine = slice_of(n_chunks, static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size()));
    counts = count_part(source, chunk_bytes, quotes, mine, n_threads);
  });
  const auto bytes = comm.all_gather_v<std::byte>(std::as_bytes(std::span<const ChunkCount>(counts)));
  counts.resize(bytes.size() / sizeof(ChunkCount));
  if (!bytes.empty()) std::memcpy(counts.data(), bytes.data(), bytes.size());
  return make_index(chunk_bytes, counts, quotes);
}

}  // namespace podere::io
