#include "podere/io/load_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/parallel.h"
#include "podere/io/csv_field.h"
#include "podere/io/window.h"

namespace podere::io {
namespace {

/// What one thread needs to load chunks.
class ChunkLoader {
 public:
  ChunkLoader(const LinePlan& plan, std::unique_ptr<LineReader> reader)
      : plan_(plan), index_(plan.index), reader_(std::move(reader)) {}

  void load(std::size_t begin_chunk, std::size_t end_chunk) {
    const std::uint64_t offset = begin_chunk * index_.chunk_bytes;
    window_.start(plan_.source.cursor_at(offset), offset);
    for (std::size_t chunk = begin_chunk; chunk < end_chunk; ++chunk) {
      try {
        load_chunk(chunk);
      } catch (const TextFault& fault) {
        throw SourceFault{window_.offset_of(fault.at), fault.message};
      }
    }
  }

 private:
  void load_chunk(std::size_t chunk) {
    const auto [first_row, place] = index_.chunks[chunk];
    const auto next = index_.chunks[chunk + 1];
    const std::uint64_t offset = chunk * index_.chunk_bytes;
    window_.move_to(offset, index_.chunk_bytes);
    const std::uint64_t begin = std::max(first_row, plan_.rows.begin);
    const std::uint64_t end = std::min(next.first_row, plan_.rows.end);
    if (begin >= end) return;

    const bool is_last_too_long = end == next.first_row && !reach_row_end(offset + index_.chunk_bytes, next.place);
    const char* p = find_row(window_.at(std::max(offset, plan_.text_begin)), window_.end(), place, index_.rules);
    for (std::uint64_t row = first_row; row < begin; ++row) {
      const char* const row_end = find_row_end(p, window_.end(), LinePlace::kRow, index_.rules);
      if (row_end == nullptr) throw_changed();
      p = find_row(row_end, window_.end(), LinePlace::kBlank, index_.rules);
    }
    reader_->start_at(static_cast<std::size_t>(begin - plan_.rows.begin));
    for (std::uint64_t row = begin; row < end; ++row) {
      if (row > begin && p < window_.end()) p = find_row(p, window_.end(), LinePlace::kBlank, index_.rules);
      if (p >= window_.end()) throw_changed();
      if (is_last_too_long && row + 1 == end) {
        throw TextFault{p, fmt::format("the line is longer than {} bytes{}", plan_.max_line_bytes,
                                       index_.rules.has_quotes ? "; is a quote not closed?" : "")};
      }
      p = reader_->read(p, window_.end() + 1);
    }
    if (p > window_.end() && !window_.is_at_end()) throw_changed();
    reader_->finish();
  }

  /// Lets the window reach behind the end of a row that is at `place` in `offset`; false if that is too far.
  bool reach_row_end(std::uint64_t offset, LinePlace place) {
    if (place == LinePlace::kBlank) return true;
    std::size_t step = 1 << 12;
    while (find_row_end(window_.at(offset), window_.end(), place, index_.rules) == nullptr) {
      if (window_.end() - window_.at(offset) >= static_cast<std::ptrdiff_t>(plan_.max_line_bytes)) return false;
      if (!window_.grow(std::min(step, plan_.max_line_bytes))) return true;
      step *= 2;
    }
    return true;
  }

  [[noreturn]] void throw_changed() const { throw_input_error("{}: changed while it was read", plan_.name); }

  static_assert(Window::kPadding > LineReader::kPadding);  // the line end at the window's end is part of the text

  const LinePlan& plan_;
  const LineIndex& index_;
  Window window_;
  std::unique_ptr<LineReader> reader_;
};

}  // namespace

void load_lines(const LinePlan& plan, const std::function<std::unique_ptr<LineReader>()>& make_reader, int n_threads) {
  if (plan.rows.size() == 0) return;
  const auto& chunks = plan.index.chunks;
  const auto chunk_of = [&](std::uint64_t row) {
    const auto behind = std::upper_bound(chunks.begin(), chunks.end(), row,
                                         [](std::uint64_t r, const auto& chunk) { return r < chunk.first_row; });
    return static_cast<std::size_t>(behind - chunks.begin()) - 1;
  };
  const std::size_t begin = chunk_of(plan.rows.begin), end = chunk_of(plan.rows.end - 1) + 1;
  // A task begins where a cursor can start.
  const std::size_t task_chunks = std::max<std::size_t>(1, plan.source.stride() / plan.index.chunk_bytes);
  const std::size_t first_task = begin / task_chunks;
  const std::size_t n_tasks = (end - 1) / task_chunks + 1 - first_task;
  std::vector<std::unique_ptr<ChunkLoader>> loaders(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(n_threads, n_tasks, [&](std::size_t task, int thread) {
    const DecodeTime decoding;
    auto& loader = loaders[static_cast<std::size_t>(thread)];
    if (!loader) loader = std::make_unique<ChunkLoader>(plan, make_reader());
    const std::size_t task_begin = (first_task + task) * task_chunks;
    loader->load(std::max(begin, task_begin), std::min(end, task_begin + task_chunks));
  });
}

}  // namespace podere::io
