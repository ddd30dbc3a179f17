// Columns of an Arrow file, as a table wants them.
#pragma once

#include <cstdint>

#include "podere/columns/arrow_dictionary.h"
#include "podere/columns/arrow_message.h"
#include "podere/columns/arrow_schema.h"
#include "podere/columns/column_file.h"
#include "podere/table/row.h"

namespace podere::columns {

/// Rows [rows.begin, rows.end) of an array, whose first row is `first_row` of the file. Throws ArrowDamage, and
/// ColumnFault for single values. `dictionary`: of a field that has one.
void read_arrow_column(const ArrowBytes& bytes, const ArrowArray& array, const ArrowField& field,
                       const ArrowDictionary* dictionary, table::RowRange rows, std::uint64_t first_row,
                       const ColumnRead& wanted);

}  // namespace podere::columns
