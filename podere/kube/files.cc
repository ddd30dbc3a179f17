#include "podere/kube/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "podere/base/error.h"

namespace podere::kube {

std::string read_small_file(const std::filesystem::path& path) {
  constexpr std::size_t kMaxBytes = 4U << 20;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) throw_input_error("{}: {}", path.string(), std::strerror(errno));
  std::string text(kMaxBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) throw_input_error("{}: {}", path.string(), std::strerror(errno));
  if (text.size() > kMaxBytes) throw_input_error("{}: is larger than {} MiB", path.string(), kMaxBytes >> 20);
  return text;
}

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const auto begin = text.find_first_not_of(kSpace);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace podere::kube
