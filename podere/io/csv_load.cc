#include "podere/io/csv_load.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/parallel.h"
#include "podere/io/csv_row.h"
#include "podere/io/window.h"

namespace podere::io {
namespace {

/// Rows on their way into columns, a cache line of each column at a time: written row by row, columns that lie a power
/// of two apart would drive each other out of the cache.
class Tile {
 public:
  explicit Tile(table::Table& table) {
    for (std::size_t j = 0; j < table.n_features(); ++j) columns_.push_back(table.feature(j).data());
    if (table.schema().label) columns_.push_back(table.label().data());
    if (table.schema().weight) columns_.push_back(table.weight().data());
    values_.resize(kRows * columns_.size());
  }

  void start_at(std::size_t row) {
    first_row_ = row;
    n_rows_ = 0;
  }

  float* next_row() { return values_.data() + n_rows_ * columns_.size(); }

  void keep_row() {
    if (++n_rows_ == kRows) flush();
  }

  void flush() {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      for (std::size_t i = 0; i < n_rows_; ++i) columns_[j][first_row_ + i] = values_[i * columns_.size() + j];
    }
    start_at(first_row_ + n_rows_);
  }

 private:
  static constexpr std::size_t kRows = 16;
  std::vector<float*> columns_;
  std::vector<float> values_;  // row by row
  std::size_t first_row_ = 0;
  std::size_t n_rows_ = 0;
};

/// What one thread needs to load chunks.
class ChunkLoader {
 public:
  ChunkLoader(const LoadPlan& plan, table::Table& table)
      : plan_(plan), index_(plan.index), parser_(plan.layout, plan.missing, plan.categories), tile_(table) {}

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
    const auto [first_line, in_quotes] = index_.chunks[chunk];
    const auto next = index_.chunks[chunk + 1];
    const std::uint64_t offset = chunk * index_.chunk_bytes;
    window_.move_to(offset, index_.chunk_bytes);
    const std::uint64_t begin = std::max(first_line, plan_.lines.begin);
    const std::uint64_t end = std::min(next.first_line, plan_.lines.end);
    if (begin >= end) return;

    const bool is_last_too_long =
        end == next.first_line && !reach_line_end(offset + index_.chunk_bytes, next.in_quotes);
    const char* p = window_.begin();
    p = chunk == 0 ? window_.at(plan_.layout.text_begin) : find_line_end(p, window_.end(), in_quotes);
    for (std::uint64_t line = first_line; line < begin && p != nullptr; ++line) {
      p = find_line_end(p, window_.end(), false);
    }
    tile_.start_at(static_cast<std::size_t>(begin - plan_.lines.begin));
    for (std::uint64_t line = begin; line < end; ++line) {
      if (p == nullptr || p >= window_.end()) throw_changed();
      if (is_last_too_long && line + 1 == end) {
        throw TextFault{p,
                        fmt::format("the line is longer than {} bytes; is a quote not closed?", plan_.max_line_bytes)};
      }
      p = parser_.parse(p, window_.end() + 1, tile_.next_row());
      tile_.keep_row();
    }
    if (p > window_.end() && !window_.is_at_end()) throw_changed();
    tile_.flush();
  }

  /// Lets the window reach behind the next line end from `offset` on; false if that is too far.
  bool reach_line_end(std::uint64_t offset, bool in_quotes) {
    std::size_t step = 1 << 12;
    while (find_line_end(window_.at(offset), window_.end(), in_quotes) == nullptr) {
      if (window_.end() - window_.at(offset) >= static_cast<std::ptrdiff_t>(plan_.max_line_bytes)) return false;
      if (!window_.grow(std::min(step, plan_.max_line_bytes))) return true;
      step *= 2;
    }
    return true;
  }

  [[noreturn]] void throw_changed() const { throw_input_error("{}: changed while it was read", plan_.name); }

  static_assert(Window::kPadding > RowParser::kPadding);  // the line end at the window's end is part of the text

  const LoadPlan& plan_;
  const LineIndex& index_;
  Window window_;
  RowParser parser_;
  Tile tile_;
};

}  // namespace

void load_rows(const LoadPlan& plan, table::Table& table, int n_threads) {
  if (plan.lines.size() == 0) return;
  const auto& chunks = plan.index.chunks;
  const auto chunk_of = [&](std::uint64_t line) {
    const auto behind = std::upper_bound(chunks.begin(), chunks.end(), line,
                                         [](std::uint64_t l, const auto& chunk) { return l < chunk.first_line; });
    return static_cast<std::size_t>(behind - chunks.begin()) - 1;
  };
  const std::size_t begin = chunk_of(plan.lines.begin), end = chunk_of(plan.lines.end - 1) + 1;
  // A task begins where a cursor can start.
  const std::size_t task_chunks = std::max<std::size_t>(1, plan.source.stride() / plan.index.chunk_bytes);
  const std::size_t first_task = begin / task_chunks;
  const std::size_t n_tasks = (end - 1) / task_chunks + 1 - first_task;
  std::vector<std::unique_ptr<ChunkLoader>> loaders(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(n_threads, n_tasks, [&](std::size_t task, int thread) {
    const DecodeTime decoding;
    auto& loader = loaders[static_cast<std::size_t>(thread)];
    if (!loader) loader = std::make_unique<ChunkLoader>(plan, table);
    const std::size_t task_begin = (first_task + task) * task_chunks;
    loader->load(std::max(begin, task_begin), std::min(end, task_begin + task_chunks));
  });
}

}  // namespace podere::io
