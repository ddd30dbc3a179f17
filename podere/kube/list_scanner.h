// A list of objects, parsed while it comes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "podere/kube/object.h"

namespace podere::kube {

/// Takes the bytes of {"kind": ..., "metadata": {...}, "items": [{...}, ...]} piece by piece and gives each item as
/// soon as it is whole, so that a list of any length needs the memory of its largest item.
class ListScanner {
 public:
  /// `asked` begins the messages of errors.
  ListScanner(std::string asked, std::size_t max_item_bytes, std::function<void(Json item)> on_item);

  /// Throws ConnectionError for what is no such list, as far as that is seen, and what `on_item` throws.
  void feed(std::string_view bytes);
  /// After the last piece: the list without its items. Throws ConnectionError if it is not whole.
  Json finish() const;

 private:
  void take_between_items(char c);
  void take(char c);
  std::size_t n_plain_bytes(std::string_view bytes) const;
  void keep(std::string_view bytes);
  void give_item();
  [[noreturn]] void refuse(std::string_view cause) const;

  const std::string asked_;
  const std::size_t max_item_bytes_;
  const std::function<void(Json item)> on_item_;
  std::string item_;  // the one that is not whole
  std::string rest_;  // all but the items
  int depth_ = 0;
  bool is_in_string_ = false;
  bool is_escaped_ = false;  // the next character of a string
  bool is_in_items_ = false;
};

}  // namespace podere::kube
