// The first rows of a delimited text, and what parts their fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/io/byte_source.h"
#include "podere/io/csv_header.h"
#include "podere/io/line_index.h"
#include "podere/io/missing_tokens.h"

namespace podere::io {

struct CsvSample {
  std::vector<std::string> rows;     ///< each with its line end
  std::vector<std::uint64_t> lines;  ///< where each begins in the file, from 1; maybe one more
};

/// The first rows behind the first `text_begin` bytes, which hold `n_lines_before`: up to 16 of them, and two where
/// there are and neither is too long. The last may have a quote that is not closed. Throws InputError, with `name` for
/// the file, where a row is longer than `max_line_bytes`, or there is none.
CsvSample read_sample(const ByteSource& source, const std::string& name, std::uint64_t text_begin,
                      std::uint64_t n_lines_before, const LineRules& rules, std::size_t max_line_bytes);

/// The candidate that does best at splitting every row into the same number of fields, more than one. Where none does,
/// one that splits the first (a row further down is at fault, which is reported when it is read), or there is one
/// field.
char find_delimiter(const CsvSample& sample, std::optional<char> comment, const MissingTokens& missing);

/// The fields of the rows below the first, up to one that cannot be split.
std::vector<Fields> rows_below(const CsvSample& sample, char delimiter, std::optional<char> comment);

}  // namespace podere::io
