// What weights and the order of rows mean where there are few.
#pragma once

#include <functional>
#include <optional>

#include "podere/comm/communicator.h"
#include "podere/table/row_source.h"

namespace podere::table {

/// Draws go by the numbers of rows, and quantized gradients are sums of draws, so a row of weight 2 is two rows on
/// average only, and rows in another order give another model. On many rows that is noise below all other; few rows are
/// canonicalized first: each row as often as its weight says, with weight 1, sorted by features and label. Rows
/// of weight 0 are gone. So the same rows in any order, or repeated instead of weighted, give the same model.
///
/// Nothing where there are more than a row block of rows, as weights count them, or weights that are not whole numbers
/// from 0. The schema stays; all rows are on the rank that held them. Collective: one all_reduce, and none for many
/// rows. Throws InputError, on all ranks, if the rows cannot be read or a category is none.
std::optional<Table> canonicalize(const RowSource& rows, const std::function<void(const Table& window)>& check,
                                  const comm::Communicator& comm);

}  // namespace podere::table
