#include "podere/table/filter.h"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/table/expression.h"

namespace podere::table {
namespace {

constexpr std::size_t kFilterGrainRows = 1 << 14;

bool holds(double x) { return x != 0 && !std::isnan(x); }
double smaller(double x, double y) { return std::isnan(x) || x < y ? x : y; }  // missing if either is
double larger(double x, double y) { return std::isnan(x) || x > y ? x : y; }

/// What a checked expression is worth. For one thread.
class Evaluator {
 public:
  Evaluator(const Expression& expression, const Table& table) : values_(expression.columns.size()) {
    for (const std::size_t column : expression.columns) columns_.push_back(table.column(column));
    // Its own operators take NaN for true, and can assign.
    parser_.EnableBuiltInOprt(false);
    parser_.ClearFun();
    parser_.ClearConst();
    parser_.ClearInfixOprt();
    define_operators();
    define_functions();
    parser_.DefineConst("pi", 0x1.921fb54442d18p+1);
    parser_.DefineConst("inf", std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < values_.size(); ++k) parser_.DefineVar("c" + std::to_string(k), &values_[k]);
    parser_.SetExpr(expression.text);
  }

  double value_in(std::size_t row) {
    for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = columns_[k][row];
    return parser_.Eval();
  }

 private:
  void define_operators() {
    const auto define = [&](const char* name, mu::fun_type2 function, unsigned precedence,
                            mu::EOprtAssociativity side = mu::oaLEFT) {
      parser_.DefineOprt(name, function, precedence, side, true);
    };
    define(
        "||", [](double x, double y) { return holds(x) || holds(y) ? 1.0 : 0.0; }, mu::prLOR);
    define(
        "&&", [](double x, double y) { return holds(x) && holds(y) ? 1.0 : 0.0; }, mu::prLAND);
    define(
        "<", [](double x, double y) { return x < y ? 1.0 : 0.0; }, mu::prCMP);
    define(
        "<=", [](double x, double y) { return x <= y ? 1.0 : 0.0; }, mu::prCMP);
    define(
        ">", [](double x, double y) { return x > y ? 1.0 : 0.0; }, mu::prCMP);
    define(
        ">=", [](double x, double y) { return x >= y ? 1.0 : 0.0; }, mu::prCMP);
    define(
        "==", [](double x, double y) { return x == y ? 1.0 : 0.0; }, mu::prCMP);
    define(
        "!=", [](double x, double y) { return x < y || x > y ? 1.0 : 0.0; }, mu::prCMP);
    define(
        "+", [](double x, double y) { return x + y; }, mu::prADD_SUB);
    define(
        "-", [](double x, double y) { return x - y; }, mu::prADD_SUB);
    define(
        "*", [](double x, double y) { return x * y; }, mu::prMUL_DIV);
    define(
        "/", [](double x, double y) { return x / y; }, mu::prMUL_DIV);
    define(
        "^", [](double x, double y) { return std::pow(x, y); }, mu::prPOW, mu::oaRIGHT);
    constexpr int kNot = (mu::prLAND + mu::prCMP) / 2;
    parser_.DefineInfixOprt(
        "!", [](double x) { return holds(x) ? 0.0 : 1.0; }, kNot);
    parser_.DefineInfixOprt(
        "-", [](double x) { return -x; }, mu::prINFIX);
  }

  void define_functions() {
    const auto define = [&](const char* name, mu::fun_type1 function) { parser_.DefineFun(name, function); };
    define("missing", [](double x) { return std::isnan(x) ? 1.0 : 0.0; });
    define("abs", [](double x) { return std::fabs(x); });
    define("sqrt", [](double x) { return std::sqrt(x); });
    define("exp", [](double x) { return std::exp(x); });
    define("log", [](double x) { return std::log(x); });
    define("log10", [](double x) { return std::log10(x); });
    define("sin", [](double x) { return std::sin(x); });
    define("cos", [](double x) { return std::cos(x); });
    define("tan", [](double x) { return std::tan(x); });
    define("asin", [](double x) { return std::asin(x); });
    define("acos", [](double x) { return std::acos(x); });
    define("atan", [](double x) { return std::atan(x); });
    define("sinh", [](double x) { return std::sinh(x); });
    define("cosh", [](double x) { return std::cosh(x); });
    define("tanh", [](double x) { return std::tanh(x); });
    define("floor", [](double x) { return std::floor(x); });
    define("ceil", [](double x) { return std::ceil(x); });
    define("round", [](double x) { return std::round(x); });
    const auto define2 = [&](const char* name, mu::fun_type2 function) { parser_.DefineFun(name, function); };
    define2("atan2", [](double y, double x) { return std::atan2(y, x); });
    define2("min", smaller);
    define2("max", larger);
  }

  std::vector<std::span<const float>> columns_;
  std::vector<double> values_;  // of one row; the parser reads them here
  mu::Parser parser_;
};

}  // namespace

std::vector<std::uint8_t> rows_where(const Table& table, const std::string& expression, int n_threads) {
  const Expression checked = check_expression(expression, table.schema());
  std::vector<std::uint8_t> rows(table.n_rows());
  try {
    std::vector<std::unique_ptr<Evaluator>> evaluators(static_cast<std::size_t>(std::max(n_threads, 1)));
    parallel_for_slices(n_threads, rows.size(), kFilterGrainRows, [&](std::size_t begin, std::size_t end, int thread) {
      auto& evaluator = evaluators[static_cast<std::size_t>(thread)];
      if (!evaluator) evaluator = std::make_unique<Evaluator>(checked, table);
      for (std::size_t i = begin; i < end; ++i) rows[i] = holds(evaluator->value_in(i)) ? 1 : 0;
    });
  } catch (const mu::Parser::exception_type& fault) {
    throw_error("the expression '{}' was found well-formed, but cannot be evaluated: {}", checked.text, fault.GetMsg());
  }
  return rows;
}

}  // namespace podere::table
