// What a watch reports, line by line.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "podere/base/line_buffer.h"
#include "podere/kube/object.h"

namespace podere::kube {

struct WatchEvent {
  enum class Kind {
    kAdded,
    kModified,
    kDeleted,
    kBookmark,  ///< nothing happened up to the object's resource version
  };
  Kind kind;
  Json object;
};

/// Takes the bytes of a watch piece by piece and gives each event as soon as its line is whole. Half a line at the end
/// did not happen: the next watch reports it again.
class WatchStream {
 public:
  /// `asked` begins the messages of errors.
  WatchStream(std::string asked, std::size_t max_line_bytes, std::function<void(WatchEvent event)> on_event);

  /// Throws ApiError for an ERROR event (410: what is watched from is too old), ConnectionError for what is no event,
  /// and what `on_event` throws.
  void feed(std::string_view bytes);

 private:
  WatchEvent read(const std::string& line) const;
  [[noreturn]] void refuse(std::string_view cause) const;

  const std::string asked_;
  const std::size_t max_line_bytes_;
  const std::function<void(WatchEvent event)> on_event_;
  LineBuffer lines_;
};

}  // namespace podere::kube
