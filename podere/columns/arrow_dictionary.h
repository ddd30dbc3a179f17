// The dictionary of a column of an Arrow file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podere/columns/arrow_message.h"
#include "podere/columns/arrow_schema.h"

namespace podere::columns {

/// The values that places of a column stand for, as both of what a table may want.
class ArrowDictionary {
 public:
  /// Adds the values of a dictionary batch. Throws ArrowDamage, also where they take far more memory than the file has
  /// bytes.
  void add(const ArrowBytes& bytes, const ArrowArray& array, const ArrowType& type);

  std::size_t size() const { return states_.size(); }
  bool is_missing(std::size_t place) const { return states_[place] == State::kMissing; }
  bool is_beyond_float(std::size_t place) const { return states_[place] == State::kBeyond; }
  float number(std::size_t place) const { return numbers_[place]; }
  std::string_view text(std::size_t place) const {
    const std::size_t begin = place == 0 ? 0 : ends_[place - 1];
    return std::string_view(texts_).substr(begin, ends_[place] - begin);
  }

 private:
  enum class State : std::uint8_t { kMissing, kValue, kBeyond };
  std::vector<State> states_;
  std::vector<float> numbers_;     // of a column of texts: 0
  std::vector<std::size_t> ends_;  // of each text
  std::string texts_;
};

}  // namespace podere::columns
