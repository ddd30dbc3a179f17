// The hosts that a user may use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podere::launch {

struct Host {
  std::string name;
  int slots = 1;  ///< most executors on it
  bool operator==(const Host&) const = default;
};

/// Reads `text` in the format of Open MPI's host files: a line per host, `name slots=N` (1 unless given), # begins a
/// comment. `path` is what to call it in messages. Throws InputError with the number of the line for what is
/// not of this form, for no slots, a host that stands there twice, and for no host at all.
std::vector<Host> parse_hosts(std::string_view text, const std::string& path);

/// Reads a host file. Throws InputError as parse_hosts, or if it cannot be read.
std::vector<Host> read_hosts(const std::string& path);

int n_slots(const std::vector<Host>& hosts);

}  // namespace podere::launch
