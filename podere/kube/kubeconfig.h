// kubeconfig files. Source: Kubernetes, "kubeconfig (v1)" and "Organizing Cluster Access Using kubeconfig Files".
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "podere/kube/access.h"

namespace podere::kube {

/// What files say. Each entry knows its file, from whose folder its relative paths go out.
struct Kubeconfig {
  struct Cluster {
    std::string file;
    std::string server;
    std::string authority_file;
    std::string authority_base64;
    std::string tls_server_name;
    std::string proxy;
    bool is_unchecked = false;
  };
  struct User {
    std::string file;
    std::string token;
    CredentialFiles files;
    std::string certificate_base64;
    std::string key_base64;
    CredentialProgram program;                ///< if its command is not empty
    bool provides_cluster = false;            ///< to the program
    std::vector<std::string> impersonation;   ///< headers
    std::vector<std::string> not_understood;  ///< fields that say who asks in ways that Podere does not know
  };
  struct Context {
    std::string file;
    std::string cluster;
    std::string user;
    std::string in_namespace;
  };
  std::vector<std::string> files;  ///< for messages
  std::string current_context;
  std::map<std::string, Cluster> clusters;
  std::map<std::string, User> users;
  std::map<std::string, Context> contexts;

  /// Takes what `other` has and this has not.
  void add(Kubeconfig other);
};

/// Throws InputError with `file` and a place for text that is no kubeconfig.
Kubeconfig parse_kubeconfig(const std::string& text, const std::string& file);

/// What a context (empty: the current one) says, with all files read. Throws InputError.
Access access_of(const Kubeconfig& config, const std::string& context, const std::string& in_namespace);

}  // namespace podere::kube
