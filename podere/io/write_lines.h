// Text of rows that are spread over the ranks, written by all of them side by side into one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "podere/comm/communicator.h"

namespace podere::io {

/// Appends the lines of rows [begin, end), by local number, to `text`. Called from several threads, perhaps twice for
/// the same rows, and then must give the same text.
using FormatRows = std::function<void(std::size_t begin, std::size_t end, std::string& text)>;

/// Writes `head`, then the lines of the `n_rows` of each rank in rank order, to the beginning of a file that all ranks
/// see and that is there, such as the temporary_path() of an AtomicFile which another process holds. Returns how many
/// bytes this rank wrote.
///
///     rank 0   head lines
///     rank 1              lines lines
///     rank 2                          lines
///
/// Collective: an exclusive_scan of 8 bytes. Memory: 64 MiB of text, and a piece per thread; lines beyond that are made
/// twice. Throws on all ranks as base's write_into: InputError where there is no room, Error else.
std::uint64_t write_lines(const std::filesystem::path& path, std::string_view head, std::size_t n_rows,
                          const FormatRows& format, const comm::Communicator& comm, int n_threads);

}  // namespace podere::io
