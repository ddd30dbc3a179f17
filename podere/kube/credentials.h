// What proves to the API server who asks.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace podere::kube {

/// Either, both or none may be there.
struct Credentials {
  std::string token;        ///< for "Authorization: Bearer"
  std::string certificate;  ///< of the client, PEM
  std::string key;          ///< of that certificate, PEM
};

/// Gives credentials that hold now. Thread-safe.
class CredentialSource {
 public:
  CredentialSource() = default;
  virtual ~CredentialSource() = default;
  CredentialSource(const CredentialSource&) = delete;
  CredentialSource& operator=(const CredentialSource&) = delete;

  /// May read files and run a program. Throws InputError with the cause if there are none.
  virtual Credentials current() = 0;
  /// The server refused these: the next ones shall be new. False if there cannot be any.
  virtual bool refuse(const Credentials& refused) = 0;
};

/// Files that others keep up to date; empty where there is none.
struct CredentialFiles {
  std::string token;
  std::string certificate;
  std::string key;
};

/// `fixed`, but for what is in `files`, which are read at once and again when they are a minute old: the kubelet
/// renews a pod's token long before it expires. Throws InputError if a file cannot be read.
std::shared_ptr<CredentialSource> make_credentials(Credentials fixed, CredentialFiles files = {});

/// A program that prints credentials as an ExecCredential of client.authentication.k8s.io.
struct CredentialProgram {
  std::string name;  ///< whose it is, for messages: "user 'me' in FILE"
  std::string api_version;
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;  ///< what to print where the program is not there
  std::string cluster;       ///< "spec.cluster" as JSON, if the program wants to know; else empty
};

/// Runs the program when there are no credentials yet, when they expire, and when the server refused them.
std::shared_ptr<CredentialSource> make_credentials(CredentialProgram program);

/// Why a server may have refused `credentials`, as far as they show: "the token expired on 2026-01-31T12:00:00Z".
/// Empty if there is nothing to see.
std::string fault_of(const Credentials& credentials);

}  // namespace podere::kube
