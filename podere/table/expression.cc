#include "podere/table/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"

namespace podere::table {
namespace {

enum class Kind { kNumber, kName, kQuotedName, kText, kSymbol };

struct Token {
  Kind kind;
  std::string text;  // without quotes
  std::size_t at;    // byte of the expression
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool begins_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte | 0x20U) - 'a' < 26U || c == '_' || byte >= 0x80;
}

/// Goes through the tokens of an expression.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  /// Nothing at the end.
  std::optional<Token> next() {
    skip_blanks();
    if (at_ == text_.size()) return std::nullopt;
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && is_digit(look(1)))) return Token{Kind::kNumber, read_number(), begin};
    if (begins_name(c)) {
      while (begins_name(look(0)) || is_digit(look(0))) ++at_;
      return Token{Kind::kName, std::string(text_.substr(begin, at_ - begin)), begin};
    }
    if (c == '`') return Token{Kind::kQuotedName, read_quoted_name(), begin};
    if (c == '\'' || c == '"') return Token{Kind::kText, read_text(c), begin};
    for (const std::string_view symbol : {"<=", ">=", "==", "!=", "&&", "||", "**"}) {
      if (text_.substr(at_).starts_with(symbol)) at_ = begin + 2;
    }
    if (at_ == begin) ++at_;
    return Token{Kind::kSymbol, std::string(text_.substr(begin, at_ - begin)), begin};
  }

  /// Whether a bracket opens behind the last token.
  bool is_bracket_next() {
    skip_blanks();
    return look(0) == '(';
  }

  std::size_t size() const { return text_.size(); }

  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    const auto begins_character = [](char c) { return (c & 0xc0) != 0x80; };
    const std::string_view before = text_.substr(0, at);
    throw_input_error("expression, character {}: {}", 1 + std::ranges::count_if(before, begins_character), message);
  }

 private:
  char look(std::size_t n) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
  void skip_blanks() {
    while (is_blank(look(0))) ++at_;
  }
  void skip_digits() {
    while (is_digit(look(0))) ++at_;
  }

  std::string read_number() {
    const std::size_t begin = at_;
    skip_digits();
    if (look(0) == '.') ++at_;
    skip_digits();
    const bool has_sign = look(1) == '+' || look(1) == '-';
    if ((look(0) == 'e' || look(0) == 'E') && is_digit(look(has_sign ? 2 : 1))) {
      at_ += has_sign ? 2 : 1;
      skip_digits();
    }
    std::string number(text_.substr(begin, at_ - begin));
    if (!parse_real(number)) fail(begin, fmt::format("{} is beyond the numbers there are", printable(number)));
    return number;
  }

  std::string read_quoted_name() {
    const std::size_t begin = at_++;
    std::string name;
    for (; look(0) != '`' || look(1) == '`'; ++at_) {
      if (at_ == text_.size()) fail(begin, "this backquote is not closed");
      if (look(0) == '`') ++at_;
      name += look(0);
    }
    ++at_;
    return name;
  }

  std::string read_text(char quote) {
    const std::size_t begin = at_++;
    std::string text;
    for (; look(0) != quote; ++at_) {
      if (look(0) == '\\') ++at_;
      if (at_ >= text_.size()) fail(begin, "this quote is not closed");
      text += look(0);
    }
    ++at_;
    return text;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_comparison(std::string_view symbol) {
  return symbol == "<" || symbol == "<=" || symbol == ">" || symbol == ">=" || symbol == "==" || symbol == "!=";
}
bool is_logic(std::string_view symbol) { return symbol == "&&" || symbol == "||"; }
bool is_arithmetic(std::string_view symbol) {
  return symbol == "+" || symbol == "-" || symbol == "*" || symbol == "/" || symbol == "^";
}

/// One spelling for what has several.
void unify(Token& token) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {{"and", "&&"}, {"&", "&&"},  {"or", "||"},
                                                                          {"|", "||"},   {"not", "!"}, {"**", "^"}};
  if (token.kind != Kind::kName && token.kind != Kind::kSymbol) return;
  for (const auto& [spelling, symbol] : kSpellings) {
    if (token.text != spelling) continue;
    token.text = symbol;
    token.kind = Kind::kSymbol;
    return;
  }
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  std::string_view rest = kFunctions;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return names;
}

int n_arguments_of(const std::string& function) {
  return function == "atan2" || function == "min" || function == "max" ? 2 : 1;
}

/// Holds tokens against the grammar: values and operators in turn, brackets in pairs.
class Checker {
 public:
  Checker(const std::string& text, const Schema& schema) : tokens_(text), schema_(schema), names_(schema.features) {
    if (schema.label) names_.push_back(*schema.label);
    if (schema.weight) names_.push_back(*schema.weight);
  }

  Expression check() {
    if (tokens_.size() > kMaxExpressionBytes) {
      throw_input_error("an expression of {} bytes, allowed are at most {}", tokens_.size(), kMaxExpressionBytes);
    }
    while (std::optional<Token> token = tokens_.next()) {
      unify(*token);
      if (wants_value_) {
        take_value(*token);
      } else {
        take_operator(*token);
      }
    }
    if (wants_value_) tokens_.fail(tokens_.size(), "the expression ends where a value should be");
    if (!open_.empty()) tokens_.fail(open_.back().at, "this bracket is not closed");
    return std::move(expression_);
  }

 private:
  struct Bracket {
    std::size_t at;
    std::string function;  // whose arguments it holds, if any
    int n_arguments;
    bool is_compared;  // what is round the bracket
  };

  /// What the next value is compared with, if that is a column and nothing else.
  struct Side {
    std::optional<std::size_t> column;
    bool is_alone = true;  // nothing but a bracket or logic stands before it
  };

  void take_value(const Token& token) {
    const bool was_alone = std::exchange(left_.is_alone, false);
    const auto compared_with = std::exchange(equal_to_, std::nullopt);
    left_.column.reset();
    if (token.kind == Kind::kNumber) {
      emit(token.text);
    } else if (token.kind == Kind::kText) {
      return take_text(token, compared_with);
    } else if (token.kind != Kind::kSymbol) {
      if (token.kind == Kind::kName && tokens_.is_bracket_next()) return take_function(token);
      const auto column = find_column(token);
      if (was_alone) left_.column = column;
    } else if (token.text == "(") {
      return open({}, token.at);
    } else if (token.text == "-" || token.text == "+") {
      if (has_sign_) fail_at_sign(token);
      has_sign_ = true;
      if (token.text == "-") emit(token.text);
      return;
    } else if (token.text == "!") {
      if (has_sign_) fail_at_sign(token);
      if (!was_alone) tokens_.fail(token.at, "'not' binds less than what stands before it: put brackets round it");
      has_sign_ = true;
      left_.is_alone = true;
      emit(token.text);
      return;
    } else {
      tokens_.fail(token.at, fmt::format("a value is needed before {}", printable(token.text)));
    }
    has_sign_ = false;
    wants_value_ = false;
  }

  void take_operator(const Token& token) {
    const std::string& symbol = token.text;
    const bool was_text = std::exchange(is_behind_text_, false);
    equal_to_.reset();
    if (token.kind != Kind::kSymbol) {
      tokens_.fail(token.at, fmt::format("an operator, such as + < == &&, is needed before {}", printable(symbol)));
    }
    if (symbol == ")") return close(token.at);
    if (symbol == ",") {
      if (open_.empty() || open_.back().function.empty()) tokens_.fail(token.at, "a comma outside a function");
      ++open_.back().n_arguments;
      begin_value(true);
    } else if (is_logic(symbol)) {
      begin_value(true);
    } else if (is_comparison(symbol)) {
      if (is_compared_ || was_text) {
        tokens_.fail(token.at, "two comparisons in a row: write a < b && b < c, or put brackets round one");
      }
      if (symbol == "==" || symbol == "!=") equal_to_ = left_.column;
      begin_value(false);
      is_compared_ = true;
    } else if (is_arithmetic(symbol)) {
      if (was_text) tokens_.fail(token.at, "a text can be compared, and nothing else");
      begin_value(false, is_compared_);
    } else if (symbol == "=") {
      tokens_.fail(token.at, "'=' compares nothing: write '=='");
    } else {
      tokens_.fail(token.at, fmt::format("{} is no operator", printable(symbol)));
    }
    emit(symbol);
  }

  void begin_value(bool is_alone, bool is_compared = false) {
    wants_value_ = true;
    left_ = {.column = std::nullopt, .is_alone = is_alone};
    is_compared_ = is_compared;
  }

  /// The bracket at `at`; `function` stands before it, or nothing.
  void open(const std::string& function, std::size_t at) {
    open_.push_back({at, function, 1, is_compared_});
    emit(function + "(");  // muParser wants no blank between the two
    has_sign_ = false;
    begin_value(true);
  }

  void close(std::size_t at) {
    if (open_.empty()) tokens_.fail(at, "this bracket was not opened");
    const Bracket bracket = std::move(open_.back());
    open_.pop_back();
    if (!bracket.function.empty() && bracket.n_arguments != n_arguments_of(bracket.function)) {
      const int n = n_arguments_of(bracket.function);
      tokens_.fail(bracket.at, fmt::format("{} takes {} value{}, {} given", bracket.function, n, n == 1 ? "" : "s",
                                           bracket.n_arguments));
    }
    is_compared_ = bracket.is_compared;
    left_ = {.column = std::nullopt, .is_alone = false};
    emit(")");
  }

  void take_function(const Token& token) {
    const std::vector<std::string> functions = function_names();
    if (std::ranges::find(functions, token.text) == functions.end()) {
      const auto nearest = nearest_name(token.text, functions);
      tokens_.fail(token.at, fmt::format("there is no function {}{}; there are {}", printable(token.text),
                                         nearest ? ", did you mean '" + *nearest + "'?" : "", kFunctions));
    }
    tokens_.next();  // the bracket
    open(token.text, token.at);
  }

  /// The column that a token names; nothing for a constant.
  std::optional<std::size_t> find_column(const Token& token) {
    const auto found = std::ranges::find(names_, token.text);
    if (found != names_.end()) {
      const auto column = static_cast<std::size_t>(found - names_.begin());
      auto& used = expression_.columns;
      const auto place = std::ranges::find(used, column);
      emit(fmt::format("c{}", place - used.begin()));
      if (place == used.end()) used.push_back(column);
      return column;
    }
    if (token.kind == Kind::kName && (token.text == "pi" || token.text == "inf")) {
      emit(token.text);
      return std::nullopt;
    }
    if (const auto nearest = nearest_name(token.text, names_)) {
      tokens_.fail(token.at,
                   fmt::format("there is no column {}; did you mean {}?", printable(token.text), printable(*nearest)));
    }
    tokens_.fail(token.at, fmt::format("there is no column {}; there are {}", printable(token.text), some_of(names_)));
  }

  /// Those of a column of categories, or of a label of classes; null for others.
  const std::vector<std::string>* texts_of(std::optional<std::size_t> column) const {
    if (!column) return nullptr;
    if (schema_.label && *column == schema_.features.size())
      return schema_.classes.empty() ? nullptr : &schema_.classes;
    const auto found = schema_.categories.find(*column);
    return found == schema_.categories.end() || !found->second ? nullptr : &*found->second;
  }

  /// A text is a category, or a class, of the column that it is compared with.
  void take_text(const Token& token, std::optional<std::size_t> column) {
    const std::vector<std::string>* const texts = texts_of(column);
    if (texts == nullptr) {
      tokens_.fail(token.at, fmt::format("the text {} stands behind no column of categories with == or !=, such as "
                                         "city == 'Rome'",
                                         printable(token.text)));
    }
    const auto code = std::ranges::find(*texts, token.text);
    if (code == texts->end()) {
      tokens_.fail(token.at, fmt::format("column {} has no category {}; it has {}", printable(names_[*column]),
                                         printable(token.text), some_of(*texts)));
    }
    emit(fmt::format("{}", code - texts->begin()));
    has_sign_ = false;
    wants_value_ = false;
    is_behind_text_ = true;
  }

  static std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t kMostNames = 40;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
      list += (i > 0 ? ", " : "") + printable(names[i]);
    }
    return names.empty() ? "none" : names.size() > kMostNames ? list + ", ..." : list;
  }

  [[noreturn]] void fail_at_sign(const Token& token) const {
    tokens_.fail(token.at, fmt::format("{} stands right behind a sign or 'not': put brackets round what that is for",
                                       printable(token.text)));
  }

  void emit(std::string_view token) {
    if (!expression_.text.empty()) expression_.text += ' ';
    expression_.text += token;
  }

  Tokens tokens_;
  const Schema& schema_;
  std::vector<std::string> names_;  // of all columns
  Expression expression_;
  std::vector<Bracket> open_;
  bool wants_value_ = true;
  bool has_sign_ = false;     // right before
  bool is_compared_ = false;  // since the last bracket or logic
  bool is_behind_text_ = false;
  Side left_;
  std::optional<std::size_t> equal_to_;  // the column that stands before == or !=
};

}  // namespace

Expression check_expression(const std::string& text, const Schema& schema) { return Checker(text, schema).check(); }

}  // namespace podere::table
