#include "podere/columns/arrow_dictionary.h"

#include <algorithm>
#include <type_traits>

#include "podere/columns/arrow_arrays.h"
#include "podere/columns/arrow_number.h"

namespace podere::columns {

void ArrowDictionary::add(const ArrowBytes& bytes, const ArrowArray& array, const ArrowType& type) {
  constexpr std::uint64_t kBytesOfEach = sizeof(State) + sizeof(float) + sizeof(std::size_t);
  if (type.storage == ArrowStorage::kNull) return;  // a place beyond its end is as good as one that is missing
  const std::uint64_t most = most_arrow_bytes(bytes);
  check_arrow_bytes(bytes, (size() + std::min(array.n_rows, most)) * kBytesOfEach);
  const std::size_t begin = size();
  // Grows with what there is: a file may say that it has more than that.
  const auto fill_up_to = [&](std::size_t n) {
    states_.resize(n, State::kMissing);
    numbers_.resize(n);
    ends_.resize(n, texts_.size());
  };
  each_arrow_value(bytes, array, type.storage, type, {0, array.n_rows}, [&](std::size_t row, const auto& value) {
    fill_up_to(begin + row);
    float number = 0;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>) {
      texts_ += value;
    } else {
      number = arrow_number(type, value);
      texts_ += arrow_text(type, value);
    }
    check_arrow_bytes(bytes, texts_.size() + size() * kBytesOfEach);
    bool is_too_large = false;
    if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::string_view>) {
      is_too_large = is_beyond(value, number);
    }
    states_.push_back(is_too_large ? State::kBeyond : State::kValue);
    numbers_.push_back(number);
    ends_.push_back(texts_.size());
  });
  fill_up_to(begin + static_cast<std::size_t>(array.n_rows));
}

}  // namespace podere::columns
