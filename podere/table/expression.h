// What a user writes to choose rows, checked and made ready to be evaluated.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podere/table/table.h"

namespace podere::table {

inline constexpr std::size_t kMaxExpressionBytes = 4096;

/// An expression without faults. Tokens have blanks between them and are
///   c0, c1, ...          columns: ck is Table::column(columns[k])
///   numbers, pi, inf
///   + - * / ^            - also as a sign
///   < <= > >= == !=      never two of them side by side
///   && || !              ! binds less than a comparison, more than &&
///   missing(x) and the functions of kFunctions
struct Expression {
  std::string text;
  std::vector<std::size_t> columns;  ///< that are used, each once
};

/// What is known beside columns, for messages and for help.
inline constexpr const char* kFunctions =
    "missing, abs, sqrt, exp, log, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, floor, ceil, "
    "round, min, max";

/// Reads `text`, which may come from anywhere. Columns of `schema` are written by name: as it is where that is letters,
/// digits and _ (and any character beyond ASCII) and begins with no digit, else in backquotes: `m bb` (a backquote in a
/// name twice). "and", "or" and "not" mean && || !, as do & and |; ** means ^. A column of categories may be
/// compared with one of its texts, by == or != only: city == 'Rome', kind != "no \"one\"" (a backslash for quotes).
/// Throws InputError, one line, with the place of the fault in characters from 1 and what is known.
Expression check_expression(const std::string& text, const Schema& schema);

}  // namespace podere::table
