#include "podere/base/checked_json.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_fields.h"
#include "podere/base/json_text.h"

namespace podere {
namespace {

std::string checksum(const Json& content) {
  const std::string text = content.dump();
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

}  // namespace

bool is_of_kind(const std::string& text, const CheckedJsonKind& kind) {
  // The format comes first, perhaps spaced by another program; what users named comes later.
  return std::string_view(text).substr(0, 64).find(fmt::format("\"{}\"", kind.format)) != std::string_view::npos;
}

std::string checked_json_text(const CheckedJsonKind& kind, int version, Json content) {
  std::string sum = checksum(content);
  const Json file{
      {"format", kind.format}, {"version", version}, {"checksum", std::move(sum)}, {"model", std::move(content)}};
  return file.dump() + "\n";
}

void read_checked_json(const std::string& text, const std::string& name, const CheckedJsonKind& kind,
                       const std::function<void(const Json& content)>& read) {
  try {
    if (is_nested_deeper_than(text, kMaxJsonDepth)) throw InputError("is not a model file (nested too deeply)");
    const Json file = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (file.is_discarded()) throw InputError("is not a whole model file (not valid JSON)");
    if (!file.is_object() || !file.contains("format") || file["format"] != kind.format) {
      throw_input_error("is not {} (no format \"{}\"){}", kind.words, kind.format, kind.advice);
    }
    std::int64_t version = 0;
    read_json(file.at("version"), "version", version);
    if (version > kind.newest_version) {
      throw_input_error("was written by a newer Podere (version {} of the format; this one reads up to {})", version,
                        kind.newest_version);
    }
    if (version < 1) {
      throw_input_error("has version {} of the format, allowed is 1 to {}", version, kind.newest_version);
    }
    const Json& content = file.at("model");
    if (file.at("checksum").get<std::string>() != checksum(content)) {
      throw InputError("was altered after it was written (checksum does not fit)");
    }
    read(content);
  } catch (const InputError& error) {
    throw_input_error("{}: {}", name, error.what());
  } catch (const Json::exception& error) {
    const std::string what = error.what();  // "[json.exception.<kind>] <what>"
    throw_input_error("{}: is not a whole model file ({})", name,
                      what.substr(std::min(what.find("] ") + 2, what.size())));
  }
}

}  // namespace podere
