#include "podere/kube/watch_stream.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "podere/base/printable.h"
#include "podere/kube/api_error.h"

namespace podere::kube {

WatchStream::WatchStream(std::string asked, std::size_t max_line_bytes, std::function<void(WatchEvent)> on_event)
    : asked_(std::move(asked)), max_line_bytes_(max_line_bytes), on_event_(std::move(on_event)) {}

void WatchStream::feed(std::string_view bytes) {
  lines_.append(bytes);
  while (const auto line = lines_.take_line()) {
    if (line->find_first_not_of(" \r") != std::string::npos) on_event_(read(*line));
  }
  if (lines_.size() > max_line_bytes_) refuse(fmt::format("an event has more than {} bytes", max_line_bytes_));
}

WatchEvent WatchStream::read(const std::string& line) const {
  using Kind = WatchEvent::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds = {{{"ADDED", Kind::kAdded},
                                                                        {"MODIFIED", Kind::kModified},
                                                                        {"DELETED", Kind::kDeleted},
                                                                        {"BOOKMARK", Kind::kBookmark}}};
  Json event;
  try {
    event = parse_object(line);
  } catch (const Error& error) {
    refuse(fmt::format("an event {}: {}", error.what(), printable(line)));
  }
  const auto type = text_at(event, {"type"});
  const auto object = event.find("object");
  if (object == event.end() || !object->is_object())
    refuse(fmt::format("an event without object: {}", printable(line)));
  if (type == "ERROR") throw api_error(asked_, *object);
  for (const auto& [name, kind] : kKinds) {
    if (type == name) return {kind, std::move(*object)};
  }
  refuse(fmt::format("an event of type {}", printable(type)));
}

void WatchStream::refuse(std::string_view cause) const { throw ConnectionError(fmt::format("{}: {}", asked_, cause)); }

}  // namespace podere::kube
