#include "podere/base/written_json.h"

#include <set>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/json_text.h"
#include "podere/base/printable.h"

namespace podere {

Json parse_written_object(std::string_view text) {
  if (is_nested_deeper_than(text, kMaxJsonDepth)) throw InputError("is nested too deep");
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto note = [&](int /*depth*/, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second) {
      throw_input_error("{} is given twice", printable(value.get<std::string>()));
    }
    return true;
  };
  Json json = Json::parse(text, note, /*allow_exceptions=*/false);
  if (!json.is_object()) throw_input_error("{} is not a JSON object", printable(text));
  return json;
}

}  // namespace podere
