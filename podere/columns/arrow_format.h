// What flatc makes of arrow_format.fbs, and how numbers in it are read.
#pragma once

#include <arrow_format_generated.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace podere::columns {

/// The numbers or structs of a vector, which may be null. Copied: the verifier does not see whether they are aligned.
template <typename Element>
auto copy_vector(const flatbuffers::Vector<Element>* vector) {
  using Value = std::remove_const_t<std::remove_pointer_t<Element>>;
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> values(vector == nullptr ? 0 : vector->size());
  if (!values.empty()) std::memcpy(static_cast<void*>(values.data()), vector->Data(), values.size() * sizeof(Value));
  return values;
}

}  // namespace podere::columns
