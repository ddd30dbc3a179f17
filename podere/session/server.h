// A session that takes orders from other processes of the same user. See docs/control-protocol.md.
#pragma once

#include <functional>
#include <string>

#include "podere/session/session.h"
#include "podere/session/session_folder.h"

namespace podere::session {

struct ServerOptions {
  Session::Options session;
  std::string checkpoints;    ///< folder where training keeps what it has, if the order names no file
  bool is_elsewhere = false;  ///< executors run on other machines, which see that folder
  /// Address and port where Prometheus finds the counters, such as "127.0.0.1:9400" (port 0: any that is free); empty:
  /// nowhere.
  std::string prometheus;
  /// Where the page is that shows what the session does, as `prometheus`; a port after that one if it is in use. Empty:
  /// nowhere.
  std::string page;
  /// Asked a few times a second: whether to end.
  std::function<bool()> stop = [] { return false; };
  /// A line for the log.
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

/// Starts executors and does the jobs that come through the place's socket, one at a time in the order in which they
/// came, until it is stopped. Executors that are lost, also between jobs, are made up for as by Session. Throws as
/// Session's constructor, and InputError if the place or the address is in use.
void serve_session(SessionPlace& place, ServerOptions options);

}  // namespace podere::session
