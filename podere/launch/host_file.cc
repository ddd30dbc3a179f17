#include "podere/launch/host_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"

namespace podere::launch {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::size_t kMostNameBytes = 253;  // of a name in the domain name system
constexpr std::uint64_t kMostSlots = 4096;
constexpr std::string_view kSpace = " \t\r";

/// Removes the next word from `line`; an equals sign joins what stands around it.
std::string next_word(std::string_view& line) {
  std::string word;
  const auto skip_space = [&] { line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size())); };
  skip_space();
  while (!line.empty()) {
    const auto end = std::min(line.find_first_of(" \t\r="), line.size());
    word += line.substr(0, end);
    line.remove_prefix(end);
    skip_space();
    if (!line.starts_with('=')) break;
    word += '=';
    line.remove_prefix(1);
    skip_space();
  }
  return word;
}

/// Names go onto the command line of ssh, where one that begins with a dash would be an option.
bool is_host_name(std::string_view name) {
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return name.size() <= kMostNameBytes && !name.empty() && is_letter_or_digit(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_'; });
}

int slots_of(std::string_view word, const std::string& place) {
  constexpr std::string_view kSlots = "slots=";
  const auto slots = word.starts_with(kSlots) ? parse_count(word.substr(kSlots.size())) : std::nullopt;
  if (!slots) throw_input_error("{}: {} is not slots=N", place, printable(word));
  if (*slots < 1 || *slots > kMostSlots) {
    throw_input_error("{}: slots={} is not from 1 to {}", place, *slots, kMostSlots);
  }
  return static_cast<int>(*slots);
}

std::optional<Host> parse_line(std::string_view line, const std::string& place) {
  line = line.substr(0, line.find('#'));
  Host host{.name = next_word(line)};
  if (host.name.empty()) return std::nullopt;
  if (!is_host_name(host.name)) {
    throw_input_error("{}: {} is not the name of a host (letters, digits, '-', '.' and '_')", place,
                      printable(host.name));
  }
  if (const auto word = next_word(line); !word.empty()) host.slots = slots_of(word, place);
  if (const auto word = next_word(line); !word.empty()) {
    throw_input_error("{}: {} is one word too many: a line is 'name slots=N'", place, printable(word));
  }
  return host;
}

}  // namespace

std::vector<Host> parse_hosts(std::string_view text, const std::string& path) {
  std::vector<Host> hosts;
  std::map<std::string, int> line_of;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string place = fmt::format("{}:{}", path, number);
    auto host = parse_line(text.substr(0, end), place);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!host) continue;
    const auto [before, is_new] = line_of.emplace(host->name, number);
    if (!is_new) throw_input_error("{}: host {} is in line {} already", place, host->name, before->second);
    hosts.push_back(std::move(*host));
  }
  if (hosts.empty()) throw_input_error("{}: there is no host in it: a line is 'name slots=N'", path);
  return hosts;
}

std::vector<Host> read_hosts(const std::string& path) {
  std::ifstream file(path);
  std::string text(kMostBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) {
    throw_input_error("{}: {}", path, std::filesystem::is_directory(path) ? "is a folder" : std::strerror(errno));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) throw_input_error("{}: more than {} bytes, this is no host file", path, kMostBytes);
  return parse_hosts(text, path);
}

int n_slots(const std::vector<Host>& hosts) {
  return std::accumulate(hosts.begin(), hosts.end(), 0, [](int sum, const Host& host) { return sum + host.slots; });
}

}  // namespace podere::launch
