// Where the sessions of a user are found.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace podere::session {

/// The place of a session that takes orders: a socket, a log, and a lock that its driver holds as long as it lives.
/// Only this user can enter the folder: $XDG_RUNTIME_DIR/podere, or podere-sessions-UID in the folder for temporary
/// files.
class SessionPlace {
 public:
  /// Throws InputError for a name other than up to 40 letters, digits, dots, _ and -, and if the folder cannot be made
  /// or is another user's.
  explicit SessionPlace(const std::string& name);
  ~SessionPlace();
  SessionPlace(const SessionPlace&) = delete;
  SessionPlace& operator=(const SessionPlace&) = delete;

  /// Takes the place, until this object goes. Throws InputError if a session has it. What a driver that was killed left
  /// behind goes.
  void take();
  bool is_taken_by_another() const;
  /// Removes what a driver that was killed has left, if no process holds the place.
  void remove_left_behind() const;
  /// The process that has the place; 0: none.
  pid_t holder() const;
  /// The folder is this driver's alone while it has the place.
  std::filesystem::path socket() const;
  std::filesystem::path log() const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::filesystem::path folder_;
  int lock_ = -1;
};

/// Names of the sessions that live, sorted.
std::vector<std::string> sessions();

}  // namespace podere::session
