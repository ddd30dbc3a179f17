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

/// Behind the line end of the line at `p`, or nullptr if it does not end before `end`.
const char* find_end(const char* p, const char* end, bool in_quotes, Quotes quotes) {
  if (quotes == Quotes::kHideLineEnds) return find_line_end(p, end, in_quotes);
  if (p >= end) return nullptr;
  const auto* const found = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  return found == nullptr ? nullptr : found + 1;
}

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
    p = chunk == 0 ? window_.at(plan_.text_begin) : find_end(p, window_.end(), in_quotes, index_.quotes);
    for (std::uint64_t line = first_line; line < begin && p != nullptr; ++line) {
      p = find_end(p, window_.end(), false, index_.quotes);
    }
    reader_->start_at(static_cast<std::size_t>(begin - plan_.lines.begin));
    for (std::uint64_t line = begin; line < end; ++line) {
      if (p == nullptr || p >= window_.end()) throw_changed();
      if (is_last_too_long && line + 1 == end) {
        throw TextFault{p, fmt::format("the line is longer than {} bytes{}", plan_.max_line_bytes,
                                       index_.quotes == Quotes::kHideLineEnds ? "; is a quote not closed?" : "")};
      }
      p = reader_->read(p, window_.end() + 1);
    }
    if (p > window_.end() && !window_.is_at_end()) throw_changed();
    reader_->finish();
  }

  /// Lets the window reach behind the next line end from `offset` on; false if that is too far.
  bool reach_line_end(std::uint64_t offset, bool in_quotes) {
    std::size_t step = 1 << 12;
    while (find_end(window_.at(offset), window_.end(), in_quotes, index_.quotes) == nullptr) {
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
    if (!loader) loader = std::make_unique<ChunkLoader>(plan, make_reader());
    const std::size_t task_begin = (first_task + task) * task_chunks;
    loader->load(std::max(begin, task_begin), std::min(end, task_begin + task_chunks));
  });
}

}  // namespace podere::io
