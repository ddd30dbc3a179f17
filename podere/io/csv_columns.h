// Which fields of delimited text become which columns of a table.
#pragma once

#include <string>
#include <vector>

#include "podere/io/csv.h"
#include "podere/io/csv_header.h"
#include "podere/io/csv_layout.h"
#include "podere/io/missing_tokens.h"

namespace podere::io {

/// Sets the fields and the schema of `layout`, which has the names of all fields, by the options and the fields of the
/// first rows. Throws InputError, with `file` or `where`, its line of names, if they do not fit.
void choose_columns(const std::string& file, const std::string& where, const std::vector<Fields>& rows,
                    const MissingTokens& missing, const CsvOptions& options, CsvLayout& layout);

}  // namespace podere::io
