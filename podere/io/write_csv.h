// Tables as delimited text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::io {

/// A field that holds `text`. Whatever may be read as a delimiter, a quote or a line end needs quotes round it.
std::string field_of(std::string_view text);

/// Writes a line with the names of the columns, then all rows: label, features, weight, as far as there are such.
/// Numbers are the shortest decimals that read back as the same float32, "inf" and "-inf" among them; a missing value
/// is an empty field (in quotes where it is the only one of its line: the line would be blank). Categories are the
/// texts of their dictionary, or codes where there is none; names and texts are in quotes where they need them.
///
/// read_csv with `header` true, the same label and weight, and `coded_as` the schema of `table`, gives the same bits in
/// every column but for the spelling of NaN, with label and weight where they were; texts of categories must not be
/// among its missing tokens.
///
/// All ranks write into the file `path`, which is there and empty (see write_lines). Returns how many bytes this rank
/// wrote. Collective. Throws as write_lines.
std::uint64_t write_csv(const table::Table& table, const std::string& path, const comm::Communicator& comm,
                        int n_threads);

}  // namespace podere::io
