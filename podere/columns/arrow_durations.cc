#include "podere/columns/arrow_durations.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "podere/base/base64.h"
#include "podere/base/error.h"
#include "podere/columns/arrow_format.h"

namespace podere::columns {
namespace {

constexpr std::size_t kPrefixBytes = 8;  // 0xffffffff, and the bytes of the message; before Arrow 0.15 the latter alone

std::int64_t units_in_second(arrow::TimeUnit unit) {
  switch (unit) {
    case arrow::TimeUnit_Second:
      return 1;
    case arrow::TimeUnit_Millisecond:
      return 1'000;
    case arrow::TimeUnit_Microsecond:
      return 1'000'000;
    default:
      return 1'000'000'000;
  }
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> arrow_durations(const std::string& schema) {
  std::vector<std::byte> bytes;
  try {
    bytes = from_base64(schema);
  } catch (const InputError&) {
    return {};
  }
  if (bytes.size() <= kPrefixBytes) return {};
  // Aligned as the message was.
  const bool is_old = std::ranges::any_of(std::span(bytes).first(4), [](std::byte b) { return b != std::byte{0xff}; });
  const std::vector<std::byte> message(bytes.begin() + (is_old ? kPrefixBytes / 2 : kPrefixBytes), bytes.end());
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(message.data());
  flatbuffers::Verifier verifier(begin, message.size());
  if (!arrow::VerifyMessageBuffer(verifier)) return {};
  const arrow::Schema* const fields = arrow::GetMessage(begin)->header_as_Schema();
  if (fields == nullptr || fields->fields() == nullptr) return {};
  std::vector<std::pair<std::string, std::int64_t>> durations;
  for (const arrow::Field* field : *fields->fields()) {
    const arrow::Duration* const duration = field->type_as_Duration();
    if (duration == nullptr || field->name() == nullptr) continue;
    durations.emplace_back(field->name()->str(), units_in_second(duration->unit()));
  }
  return durations;
}

}  // namespace podere::columns
