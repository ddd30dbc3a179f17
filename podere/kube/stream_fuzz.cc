// libFuzzer program of what an API server sends: lists, watches and errors. However the bytes are cut into pieces, a
// list gives the items that a parser of the whole gives, and a watch the same events; what is refused is refused in one
// line. Anything else that is thrown ends the program.
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/kube/api_error.h"
#include "podere/kube/list_scanner.h"
#include "podere/kube/watch_stream.h"

namespace {

namespace kube = podere::kube;
using kube::Json;

constexpr std::size_t kMaxBytes = 1000;

[[noreturn]] void end(std::string_view cause, std::string_view text) {
  fmt::print(stderr, "{}: {}\n", cause, text);
  std::abort();
}

/// What came, and how it ended.
struct Scanned {
  std::vector<Json> objects;
  std::string refusal;
  bool operator==(const Scanned&) const = default;
};

/// Feeds `text` in pieces and then ends.
template <typename Feed, typename Finish>
void take(std::string_view text, std::size_t piece, Scanned& scanned, const Feed& feed, const Finish& finish) {
  try {
    for (std::size_t i = 0; i < text.size(); i += piece) feed(text.substr(i, piece));
    finish();
  } catch (const podere::Error& error) {
    scanned.refusal = error.what();
    if (scanned.refusal.empty() || scanned.refusal.find_first_of("\n\r\x1b") != std::string::npos) {
      end("no line", scanned.refusal);
    }
  }
}

Scanned scan(std::string_view text, std::size_t piece, std::optional<Json>& list) {
  Scanned scanned;
  kube::ListScanner scanner("x", kMaxBytes, [&](Json item) { scanned.objects.push_back(std::move(item)); });
  take(
      text, piece, scanned, [&](std::string_view bytes) { scanner.feed(bytes); }, [&] { list = scanner.finish(); });
  return scanned;
}

Scanned watch(std::string_view text, std::size_t piece) {
  Scanned scanned;
  kube::WatchStream stream("x", kMaxBytes, [&](kube::WatchEvent event) {
    scanned.objects.push_back({static_cast<int>(event.kind), std::move(event.object)});
  });
  take(
      text, piece, scanned, [&](std::string_view bytes) { stream.feed(bytes); }, [] {});
  return scanned;
}

void check_list(std::string_view text) {
  std::optional<Json> list;
  std::optional<Json> again;
  const Scanned scanned = scan(text, 1, list);
  if (scan(text, 7, again) != scanned || list != again) end("pieces matter", text);
  const Json whole = Json::parse(text, nullptr, false);
  if (!list || !whole.is_object() || !whole.contains("items")) return;
  const Json& items = whole.at("items");
  // Of several members of one name the parser of the whole knows the last alone.
  if (items.is_array() && items.size() == scanned.objects.size() && items != Json(scanned.objects))
    end("other items", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), n);
  check_list(text);
  const Scanned scanned = watch(text, 1);
  // A line that is too long is refused when its piece has come, perhaps with lines before it in the same piece.
  if (scanned.refusal.find("more than") == std::string::npos && watch(text, 7) != scanned) end("pieces matter", text);
  const std::string message = kube::api_error("x", 500, text).what();
  if (message.find_first_of("\n\r\x1b") != std::string::npos) end("no line", message);
  return 0;
}
