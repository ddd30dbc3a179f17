#include "podere/kube/list_scanner.h"

#include <fmt/format.h>

#include <utility>

#include "podere/kube/api_error.h"

namespace podere::kube {
namespace {

constexpr std::size_t kMaxRestBytes = 1U << 20;
constexpr int kDepthOfItems = 2;  // inside the list

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// Whether `text` goes up to the '[' of the items.
bool opens_items(std::string_view text) {
  for (const std::string_view end : {"[", ":", "\"items\""}) {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (!text.ends_with(end)) return false;
    text.remove_suffix(end.size());
  }
  return true;
}

}  // namespace

ListScanner::ListScanner(std::string asked, std::size_t max_item_bytes, std::function<void(Json)> on_item)
    : asked_(std::move(asked)), max_item_bytes_(max_item_bytes), on_item_(std::move(on_item)) {}

void ListScanner::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (is_in_items_ && depth_ == kDepthOfItems) {
      take_between_items(c);
    } else {
      take(c);
    }
  }
}

void ListScanner::take_between_items(char c) {
  if (c == '{') {
    item_ = c;
    ++depth_;
  } else if (c == ']') {
    rest_ += c;
    --depth_;
    is_in_items_ = false;
  } else if (c != ',' && !is_space(c)) {
    refuse("an item is no object");
  }
}

void ListScanner::take(char c) {
  std::string& text = is_in_items_ ? item_ : rest_;
  if (text.size() >= (is_in_items_ ? max_item_bytes_ : kMaxRestBytes)) {
    refuse(fmt::format("an item has more than {} bytes", text.size()));
  }
  text += c;
  if (is_in_string_) {
    is_in_string_ = is_escaped_ || c != '"';
    is_escaped_ = !is_escaped_ && c == '\\';
  } else if (c == '"') {
    is_in_string_ = true;
  } else if (c == '{' || c == '[') {
    if (++depth_ == kDepthOfItems) is_in_items_ = opens_items(rest_);
  } else if (c == '}' || c == ']') {
    if (--depth_ == kDepthOfItems && is_in_items_) give_item();
  }
}

void ListScanner::give_item() {
  Json item;
  try {
    item = parse_object(item_);
  } catch (const Error& error) {
    refuse(fmt::format("an item {}", error.what()));
  }
  on_item_(std::move(item));
}

Json ListScanner::finish() const {
  try {
    Json list = parse_object(rest_);
    if (text_at(list, {"kind"}).ends_with("List")) return list;
  } catch (const Error&) {
    // cut off, or something else
  }
  refuse("the answer is no whole list");
}

void ListScanner::refuse(std::string_view cause) const { throw ConnectionError(fmt::format("{}: {}", asked_, cause)); }

}  // namespace podere::kube
