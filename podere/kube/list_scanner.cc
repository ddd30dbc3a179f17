#include "podere/kube/list_scanner.h"

#include <fmt/format.h>

#include <algorithm>
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
  while (!bytes.empty()) {
    if (is_in_items_ && depth_ == kDepthOfItems) {
      take_between_items(bytes.front());
    } else {
      const std::size_t n_plain = n_plain_bytes(bytes);
      keep(bytes.substr(0, n_plain));
      bytes.remove_prefix(n_plain);
      if (bytes.empty()) return;
      take(bytes.front());
    }
    bytes.remove_prefix(1);
  }
}

/// Bytes that come before one that means something.
std::size_t ListScanner::n_plain_bytes(std::string_view bytes) const {
  if (is_escaped_) return 0;
  const auto means = [this](char c) {
    return c == '"' || (is_in_string_ ? c == '\\' : c == '{' || c == '}' || c == '[' || c == ']');
  };
  return static_cast<std::size_t>(std::ranges::find_if(bytes, means) - bytes.begin());
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

void ListScanner::keep(std::string_view bytes) {
  std::string& text = is_in_items_ ? item_ : rest_;
  const std::size_t max_bytes = is_in_items_ ? max_item_bytes_ : kMaxRestBytes;
  if (text.size() + bytes.size() > max_bytes) {
    refuse(fmt::format("{} has more than {} bytes", is_in_items_ ? "an item" : "what is not items", max_bytes));
  }
  text += bytes;
}

void ListScanner::take(char c) {
  keep({&c, 1});
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
