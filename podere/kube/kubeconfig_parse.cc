#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/kube/kubeconfig.h"

namespace podere::kube {
namespace {

namespace fs = std::filesystem;

/// A value of the file, and its place for messages: "FILE: users[0].user".
struct Value {
  YAML::Node node;
  std::string place;

  [[noreturn]] void refuse(const char* wanted) const {
    const YAML::Mark mark = node.Mark();
    throw_input_error("{}: is no {}{}", place, wanted,
                      mark.is_null() ? "" : fmt::format(" (line {}, column {})", mark.line + 1, mark.column + 1));
  }
  bool is_given() const { return node.IsDefined() && !node.IsNull(); }

  Value at(const char* name) const {
    if (!is_given()) return {YAML::Node(YAML::NodeType::Undefined), place};
    if (!node.IsMap()) refuse("mapping");
    return {node[name], fmt::format("{}{}{}", place, place.ends_with(": ") ? "" : ".", name)};
  }
  std::string text(const char* name) const {
    const Value value = at(name);
    return value.is_given() ? value.own_text() : "";
  }
  /// Text that becomes part of a header, a path or the name of a program.
  std::string line(const char* name) const {
    const Value value = at(name);
    return value.is_given() ? value.own_line() : "";
  }
  bool flag(const char* name) const {
    const std::string text = this->text(name);
    if (!text.empty() && text != "true" && text != "false") at(name).refuse("true or false");
    return text == "true";
  }
  std::vector<Value> list(const char* name) const {
    const Value value = at(name);
    if (!value.is_given()) return {};
    if (!value.node.IsSequence()) value.refuse("list");
    std::vector<Value> values;
    for (std::size_t i = 0; i < value.node.size(); ++i) {
      values.push_back({value.node[i], fmt::format("{}[{}]", value.place, i)});
    }
    return values;
  }
  std::string own_text() const {
    if (!node.IsScalar()) refuse("text");
    if (!is_utf8(node.Scalar())) refuse("text in UTF-8");  // some of it goes into JSON
    return node.Scalar();
  }
  std::string own_line() const {
    std::string text = own_text();
    const bool is_line = std::ranges::none_of(text, [](char c) { return c >= 0 && (c < ' ' || c == '\x7f'); });
    if (!is_line) refuse("single line");
    return text;
  }
};

/// A path counts from the folder of its file.
std::string path_from(const std::string& file, const std::string& path) {
  return path.empty() ? "" : (fs::path(file).parent_path() / path).string();
}

Kubeconfig::Cluster read_cluster(const Value& value, const std::string& file) {
  return {.file = file,
          .server = value.line("server"),
          .authority_file = path_from(file, value.line("certificate-authority")),
          .authority_base64 = value.text("certificate-authority-data"),
          .tls_server_name = value.line("tls-server-name"),
          .proxy = value.line("proxy-url"),
          .is_unchecked = value.flag("insecure-skip-tls-verify")};
}

Kubeconfig::Context read_context(const Value& value, const std::string& file) {
  return {.file = file,
          .cluster = value.text("cluster"),
          .user = value.text("user"),
          .in_namespace = value.line("namespace")};
}

CredentialProgram read_program(const Value& value, const std::string& file) {
  CredentialProgram program{.api_version = value.line("apiVersion"), .command = value.line("command")};
  if (program.command.empty()) throw_input_error("{}: names no command", value.place);
  if (program.command.find('/') != std::string::npos) program.command = path_from(file, program.command);
  if (program.api_version != "client.authentication.k8s.io/v1" &&
      program.api_version != "client.authentication.k8s.io/v1beta1") {
    throw_input_error("{}.apiVersion: {} is not supported; allowed are client.authentication.k8s.io/v1 and v1beta1",
                      value.place, printable(program.api_version));
  }
  if (value.text("interactiveMode") == "Always") {
    throw_input_error("{}.interactiveMode: 'Always' is not supported; the program has no terminal", value.place);
  }
  for (const Value& argument : value.list("args")) program.arguments.push_back(argument.own_line());
  for (const Value& variable : value.list("env")) {
    program.environment.emplace_back(variable.line("name"), variable.line("value"));
  }
  program.install_hint = value.text("installHint");
  return program;
}

Kubeconfig::User read_user(const Value& value, const std::string& file) {
  Kubeconfig::User user{.file = file,
                        .token = value.line("token"),
                        .files = {.token = path_from(file, value.line("tokenFile")),
                                  .certificate = path_from(file, value.line("client-certificate")),
                                  .key = path_from(file, value.line("client-key"))},
                        .certificate_base64 = value.text("client-certificate-data"),
                        .key_base64 = value.text("client-key-data")};
  if (const Value exec = value.at("exec"); exec.is_given()) {
    user.program = read_program(exec, file);
    user.provides_cluster = exec.flag("provideClusterInfo");
  }
  if (const std::string as = value.line("as"); !as.empty()) user.impersonation.push_back("Impersonate-User: " + as);
  for (const Value& group : value.list("as-groups")) {
    user.impersonation.push_back("Impersonate-Group: " + group.own_line());
  }
  for (const char* const name : {"username", "password", "auth-provider", "as-uid", "as-user-extra"}) {
    if (value.at(name).is_given()) user.not_understood.emplace_back(name);
  }
  return user;
}

/// The list `plural` of entries {"name": ..., `singular`: {...}}. The first of several of a name holds.
template <typename Entry>
std::map<std::string, Entry> read_entries(const Value& root, const char* plural, const char* singular,
                                          Entry (*read)(const Value& value, const std::string& file),
                                          const std::string& file) {
  std::map<std::string, Entry> entries;
  for (const Value& item : root.list(plural)) {
    std::string name = item.text("name");
    if (name.empty()) throw_input_error("{}: has no name", item.place);
    entries.emplace(std::move(name), read(item.at(singular), file));
  }
  return entries;
}

}  // namespace

Kubeconfig parse_kubeconfig(const std::string& text, const std::string& file) {
  try {
    const Value root{YAML::Load(text), file + ": "};
    if (root.is_given() && !root.node.IsMap()) throw_input_error("{}: is no kubeconfig (no mapping)", file);
    if (const std::string kind = root.text("kind"); !kind.empty() && kind != "Config") {
      throw_input_error("{}: is no kubeconfig (kind {})", file, printable(kind));
    }
    return {.files = {file},
            .current_context = root.text("current-context"),
            .clusters = read_entries(root, "clusters", "cluster", read_cluster, file),
            .users = read_entries(root, "users", "user", read_user, file),
            .contexts = read_entries(root, "contexts", "context", read_context, file)};
  } catch (const YAML::Exception& error) {
    throw_input_error("{}:{}:{}: is no YAML ({})", file, error.mark.line + 1, error.mark.column + 1,
                      printable_line(error.msg, 200));
  }
}

}  // namespace podere::kube
