#include "podere/exchange/ubjson.h"

#include <bit>
#include <concepts>
#include <cstdint>

#include "podere/base/error.h"
#include "podere/base/json_text.h"

namespace podere::exchange {
namespace {

/// Counts values and depth before the library makes a value of what it reads.
class CountingReader : public nlohmann::json_sax<SortedJson> {
 public:
  CountingReader(SortedJson& result, std::size_t most_values) : result_(result), left_(most_values) {}

  bool null() override { return count() && make_.null(); }
  bool boolean(bool value) override { return count() && make_.boolean(value); }
  bool number_integer(number_integer_t value) override { return count() && make_.number_integer(value); }
  bool number_unsigned(number_unsigned_t value) override { return count() && make_.number_unsigned(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    return count() && make_.number_float(value, text);
  }
  bool string(string_t& value) override { return count() && make_.string(value); }
  bool binary(binary_t& value) override { return count() && make_.binary(value); }
  bool start_object(std::size_t n) override { return open(n) && make_.start_object(n); }
  bool key(string_t& value) override { return make_.key(value); }
  bool end_object() override { return close() && make_.end_object(); }
  bool start_array(std::size_t n) override { return open(n) && make_.start_array(n); }
  bool end_array() override { return close() && make_.end_array(); }
  bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

  bool count() { return left_ > 0 && left_-- > 0; }
  bool open(std::size_t n) { return count() && (n == kUnknown || n <= left_) && ++depth_ <= kMaxJsonDepth; }
  bool close() { return depth_-- > 0; }

  SortedJson& result_;
  nlohmann::detail::json_sax_dom_parser<SortedJson> make_{result_, /*allow_exceptions=*/false};
  std::size_t left_;
  int depth_ = 0;
};

template <std::unsigned_integral Bits>
void append(std::string& text, char marker, Bits bits) {
  text += marker;
  for (int shift = 8 * static_cast<int>(sizeof bits); shift > 0; shift -= 8)
    text += static_cast<char>(bits >> (shift - 8) & 0xFF);
}

void append_text(std::string& text, const std::string& value) {
  append(text, 'L', std::uint64_t{value.size()});
  text += value;
}

void append_value(std::string& text, const Json& json) {
  if (json.is_object()) {
    text += '{';
    for (const auto& [name, value] : json.items()) {
      append_text(text, name);
      append_value(text, value);
    }
    text += '}';
  } else if (json.is_array()) {
    text += '[';
    for (const Json& value : json) append_value(text, value);
    text += ']';
  } else if (json.is_string()) {
    text += 'S';
    append_text(text, json.get_ref<const std::string&>());
  } else if (json.is_number_integer()) {
    append(text, 'L', static_cast<std::uint64_t>(json.get<std::int64_t>()));
  } else {
    append(text, 'd', std::bit_cast<std::uint32_t>(json.get<float>()));
  }
}

}  // namespace

SortedJson from_ubjson(const std::string& text) {
  SortedJson result;
  CountingReader reader(result, text.size());
  if (!SortedJson::sax_parse(text, &reader, SortedJson::input_format_t::ubjson))
    throw InputError("is not a whole model (not valid UBJSON)");
  return result;
}

std::string to_ubjson(const Json& json) {
  std::string text;
  append_value(text, json);
  return text;
}

}  // namespace podere::exchange
