// Choosing rows by what they hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/table/table.h"

namespace podere::table {

/// For each row held here whether `expression` holds [n_rows]: 1 where its value is neither 0 nor missing, else 0. What
/// keep_rows takes.
///
///     m_bb > 95 && m_bb < 140 && !missing(jet_3_pt)
///     abs(lepton_eta) < 2.1 or (sqrt(x^2 + y^2) > 3 and not y == x)
///     `weight of the box` >= 1e3 and city == 'Rome'
///
/// Features, label and weight are variables; check_expression (expression.h) says how they and all else are written.
/// Values are computed in double. A comparison with a missing value is false, != as well, and so is such a value by
/// itself: !(x > 3) holds where x is missing; use missing(x) to find out. All else that has a missing part is missing.
/// Columns of categories are their codes. Nothing can be assigned to.
///
/// Local; the same for any number of threads. Throws InputError, one line with the place of the fault, the same on all
/// ranks, if the expression is not well-formed or longer than kMaxExpressionBytes.
std::vector<std::uint8_t> rows_where(const Table& table, const std::string& expression, int n_threads);

}  // namespace podere::table
