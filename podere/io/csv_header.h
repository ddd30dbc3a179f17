// Whether the first line of a delimited file names its columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podere/io/csv.h"

namespace podere::io {

class MissingTokens;

/// Whether `text` is one of the usual words for a missing value, in any case: N/A, null, None, -, ... Empty text is.
bool is_missing_word(std::string_view text);

/// The fields of a line of a file.
using Fields = std::vector<std::string>;

/// What speaks for a first line with these fields that names the columns, and for one that is a row.
struct HeaderDecision {
  std::optional<bool> is_header;  ///< unset: there is doubt
  std::string doubt;              ///< why, as the end of "it may name the columns or be a row: ..."
};

/// Compares the kinds of `first` with those of the lines below it, column by column. A text over numbers is a name; a
/// number, or a text that looks like those below (dates, identifiers), belongs to a row; usual words for missing values
/// are no names. Columns that pandas left without names, 0,1,2,... and with an index ,0,1,2,... (R: ,1,2,3,...), are
/// names over real numbers, and doubtful over whole ones, but for one or two columns of such as 0 and 1. Names of
/// columns that `options` ask for settle it. A function of these lines alone. `options.header` does not count.
HeaderDecision decide_header(const Fields& first, const std::vector<Fields>& below, const MissingTokens& missing,
                             const CsvOptions& options);

}  // namespace podere::io
