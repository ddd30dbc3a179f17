#include "podere/io/write_lines.h"

#include <atomic>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/parallel.h"

namespace podere::io {
namespace {

constexpr std::size_t kRowsPerPiece = 1 << 14;
constexpr std::size_t kHeldBytes = std::size_t{1} << 26;

/// The lines of some rows.
struct TextPiece {
  std::size_t bytes = 0;
  std::string text;  // empty where all pieces together would be too large
};

std::string text_of(std::size_t begin, std::size_t end, const FormatRows& format) {
  std::string text;
  format(begin, end, text);
  return text;
}

std::vector<TextPiece> make_pieces(std::size_t n_rows, const FormatRows& format, int n_threads) {
  std::vector<TextPiece> pieces((n_rows + kRowsPerPiece - 1) / kRowsPerPiece);
  std::atomic<std::size_t> held_bytes = 0;
  parallel_for_slices(n_threads, n_rows, kRowsPerPiece, [&](std::size_t begin, std::size_t end, int) {
    TextPiece& piece = pieces[begin / kRowsPerPiece];
    std::string text = text_of(begin, end, format);
    piece.bytes = text.size();
    if (held_bytes.fetch_add(text.size()) + text.size() > kHeldBytes) return;
    text.shrink_to_fit();
    piece.text = std::move(text);
  });
  return pieces;
}

}  // namespace

std::uint64_t write_lines(const std::filesystem::path& path, std::string_view head, std::size_t n_rows,
                          const FormatRows& format, const comm::Communicator& comm, int n_threads) {
  std::vector<TextPiece> pieces;
  comm.agree([&] { pieces = make_pieces(n_rows, format, n_threads); });
  if (!comm.is_root()) head = {};
  std::vector<std::uint64_t> places;  // of the pieces, behind what this rank begins with
  std::uint64_t n_bytes = head.size();
  for (const TextPiece& piece : pieces) {
    places.push_back(n_bytes);
    n_bytes += piece.bytes;
  }
  const std::uint64_t begin = comm.exclusive_scan(n_bytes, comm::Reduction::kSum, std::uint64_t{0});
  comm.agree([&] {
    write_into(path, begin, head);
    parallel_for_slices(n_threads, n_rows, kRowsPerPiece, [&](std::size_t first, std::size_t last, int) {
      TextPiece& piece = pieces[first / kRowsPerPiece];
      if (piece.text.empty()) piece.text = text_of(first, last, format);
      if (piece.text.size() != piece.bytes) throw_error("{}: its rows changed while they were written", path.string());
      write_into(path, begin + places[first / kRowsPerPiece], piece.text);
      piece.text = {};
    });
  });
  return n_bytes;
}

}  // namespace podere::io
